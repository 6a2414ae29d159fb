// backplane-bench: drives any Kubernetes API server that a kubeconfig names and prints what it did and what it cost the server.
#include <CLI/CLI.hpp>
#include <iostream>

#include "scenarios.hpp"

int main(int argc, char** argv) {
  bench::Settings settings;
  CLI::App app{"Load driver for Kubernetes API servers; one line of JSON per scenario."};
  app.require_subcommand(1);
  app.add_option("--kubeconfig", settings.kubeconfig, "where the server is and who asks")->required();
  app.add_option("--pid", settings.pid, "process of the server: its CPU seconds and memory are measured");
  app.add_option("--clients", settings.clients, "connections, one request at a time each")->capture_default_str();
  app.add_option("--seconds", settings.seconds, "how long")->capture_default_str();
  app.add_option("--count", settings.count, "operations instead of seconds");
  app.add_option("--watchers", settings.watchers, "of fanout")->capture_default_str();
  app.add_option("--resource", settings.resource, "pods or configmaps")->capture_default_str();
  app.add_option("--namespace", settings.ns, "made when it does not exist")->capture_default_str();
  app.add_option("--query", settings.query, "appended to lists, such as ?limit=500");
  struct Scenario {
    const char* name;
    const char* help;
    void (*run)(const bench::Endpoint&, const bench::Settings&);
  };
  static constexpr Scenario kScenarios[] = {{"get", "read one object", bench::run_get},
                                            {"create", "durable creates", bench::run_create},
                                            {"list", "list the collection", bench::run_list},
                                            {"fanout", "one collection, many watchers", bench::run_fanout},
                                            {"idle", "memory and CPU of a server nobody asks", bench::run_idle}};
  for (const auto& scenario : kScenarios) app.add_subcommand(scenario.name, scenario.help)->fallthrough();
  CLI11_PARSE(app, argc, argv);
  try {
    const bench::Endpoint endpoint(settings.kubeconfig);
    for (const auto& scenario : kScenarios) {
      if (app.got_subcommand(scenario.name)) scenario.run(endpoint, settings);
    }
  } catch (const std::exception& error) {
    std::cerr << "backplane-bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

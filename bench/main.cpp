// backplane-bench: sends load to the Kubernetes API server that a kubeconfig names, and prints rates, latencies and the server's cost.
#include <CLI/CLI.hpp>
#include <iostream>

#include "growth.hpp"
#include "scenarios.hpp"

int main(int argc, char** argv) {
  bench::Settings settings;
  CLI::App app{"Load driver for Kubernetes API servers; one line of JSON per scenario."};
  app.require_subcommand(1);
  app.add_option("--kubeconfig", settings.kubeconfig, "address of the server and credentials; growth starts separate servers");
  app.add_option("--pid", settings.pid, "process of the server: its CPU seconds and memory are measured");
  app.add_option("--clients", settings.clients, "connections, one request at a time each")->capture_default_str();
  app.add_option("--seconds", settings.seconds, "how long")->capture_default_str();
  app.add_option("--count", settings.count, "operations instead of seconds");
  app.add_option("--watchers", settings.watchers, "of fanout")->capture_default_str();
  app.add_option("--resource", settings.resource, "pods or configmaps")->capture_default_str();
  app.add_option("--namespace", settings.ns, "made when it does not exist")->capture_default_str();
  app.add_option("--query", settings.query, "appended to lists, such as ?limit=500");
  app.add_option("--path", settings.path, "what path reads, such as an object of an aggregated server");
  bench::GrowthSettings growth;
  CLI::App* grows = app.add_subcommand("growth", "doubles the number of each item and prints the exponent by which time and memory grow");
  grows->add_option("--server", growth.server, "the server's binary")->required()->check(CLI::ExistingFile);
  grows->add_option("--plugin-dir", growth.plugin_dir, "its plugins; default: where the server looks");
  grows->add_option("--plugin", growth.plugin, "the plugin of which copies are loaded")->capture_default_str();
  grows->add_option("--scale", growth.scale, "of the sizes")->capture_default_str()->check(CLI::PositiveNumber);
  grows->add_option("--only", growth.only, "quantities, comma separated: types, kinds, objects, watchers, namespaces, plugins, connections")
      ->delimiter(',');
  struct Scenario {
    const char* name;
    const char* help;
    void (*run)(const bench::Endpoint&, const bench::Settings&);
  };
  static constexpr Scenario kScenarios[] = {{"get", "read one object", bench::run_get},
                                            {"path", "read one path", bench::run_path},
                                            {"create", "durable creates", bench::run_create},
                                            {"list", "list the collection", bench::run_list},
                                            {"fanout", "one collection, many watchers", bench::run_fanout},
                                            {"idle", "memory and CPU of a server without requests", bench::run_idle}};
  for (const auto& scenario : kScenarios) app.add_subcommand(scenario.name, scenario.help)->fallthrough();
  CLI11_PARSE(app, argc, argv);
  try {
    if (grows->parsed()) return bench::run_growth(growth);
    if (settings.kubeconfig.empty()) throw std::runtime_error("--kubeconfig is required");
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

#include "growth.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "measure.hpp"
#include "server.hpp"

namespace bench {
namespace {

namespace json = boost::json;

constexpr int kClients = 16;
constexpr double kHighest = 1.1;
constexpr std::string_view kPluginName = "growth-0000";

// What a number of objects, connections, … costs a server.
struct Cost {
  double seconds = 0;  // CPU time of the server
  double kib = 0;      // memory of the server
};

// Creates `size` objects, connections, … on a fresh server and returns their cost.
using Measure = Cost (*)(const GrowthSettings& settings, long size);

struct Quantity {
  const char* name;
  long smallest;  // the first size; it is then doubled three times
  Measure measure;
};

std::vector<std::string> flags_of(const GrowthSettings& settings) {
  return settings.plugin_dir.empty() ? std::vector<std::string>() : std::vector<std::string>{"--plugin-dir", settings.plugin_dir};
}

// Runs `work` on a fresh server and returns what the server spent until it was idle again.  The result of `work`, for example open
// connections, is kept until then.
template <class Work>
Cost cost_of(const GrowthSettings& settings, Work work) {
  const OwnServer server(settings.server, flags_of(settings));
  server.wait_idle();
  const Usage before = usage_of(server.pid());
  const auto kept = work(server);
  server.wait_idle();
  const Usage after = usage_of(server.pid());
  (void)kept;
  return {after.cpu_seconds - before.cpu_seconds, static_cast<double>(after.rss_kib - before.rss_kib)};
}

void post(Connection& connection, const std::string& path, const std::string& body) {
  expect(connection.request("POST", path, body), 201, "create");
}

// ---- custom types

std::string definition(const std::string& group, long number) {
  const std::string n = std::to_string(number);
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things)" + n + "." + group +
         R"("},"spec":{"group":")" + group + R"(","names":{"plural":"things)" + n + R"(","singular":"thing)" + n + R"(","kind":"Thing)" +
         n + R"("},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" +
         R"({"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";
}

void wait_served(Connection& connection, const std::string& path) {
  for (int tries = 0; connection.request("GET", path, {}, true).code != 200; ++tries) {
    if (tries > 6000) throw std::runtime_error(path + " is not served");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int make_types(const OwnServer& server, long size, const std::function<std::string(long)>& group_of) {
  for_each(server.endpoint(), kClients, size, [&](Connection& connection, long i) {
    post(connection, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(group_of(i), i));
  });
  Connection connection(server.endpoint());
  for (long i = 0; i < size; ++i) wait_served(connection, "/apis/" + group_of(i) + "/v1/things" + std::to_string(i));
  return 0;
}

Cost measure_types(const GrowthSettings& settings, long size) {
  return cost_of(settings, [size](const OwnServer& server) {
    return make_types(server, size, [](long i) { return "g" + std::to_string(i) + ".growth.example.com"; });
  });
}

Cost measure_kinds(const GrowthSettings& settings, long size) {
  return cost_of(settings, [size](const OwnServer& server) {
    return make_types(server, size, [](long) { return std::string("growth.example.com"); });
  });
}

// ---- objects and namespaces

std::string config_map(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"config":")" + std::string(1000, 'x') +
         R"("}})";
}

void make_namespace(Connection& connection, const std::string& name) {
  post(connection, "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"("}})");
}

void make_objects(const OwnServer& server, const std::string& ns, long size) {
  for_each(server.endpoint(), kClients, size, [&](Connection& connection, long i) {
    post(connection, "/api/v1/namespaces/" + ns + "/configmaps", config_map("object-" + std::to_string(i)));
  });
}

// The cost of objects that are created, and then listed once.
Cost measure_objects(const GrowthSettings& settings, long size) {
  return cost_of(settings, [size](const OwnServer& server) {
    Connection setup(server.endpoint());
    make_namespace(setup, "growth");
    make_objects(server, "growth", size);
    // A separate connection: on a busy machine the server may have closed the first one as idle.
    expect(Connection(server.endpoint()).request("GET", "/api/v1/namespaces/growth/configmaps", {}, true), 200, "list");
    return 0;
  });
}

// The cost of namespaces with one object each.
Cost measure_namespaces(const GrowthSettings& settings, long size) {
  return cost_of(settings, [size](const OwnServer& server) {
    for_each(server.endpoint(), kClients, size, [](Connection& connection, long i) {
      const std::string name = "growth-" + std::to_string(i);
      make_namespace(connection, name);
      post(connection, "/api/v1/namespaces/" + name + "/configmaps", config_map("object"));
    });
    return 0;
  });
}

// ---- connections and watchers

using Connections = std::vector<std::unique_ptr<Connection>>;

// Opens `size` connections and calls `begin` for each directly after its handshake: the server closes a connection whose first request does
// not arrive in time.
template <class Begin>
Connections connect(const OwnServer& server, long size, Begin begin) {
  Connections out;
  for (long i = 0; i < size; ++i) {
    out.push_back(std::make_unique<Connection>(server.endpoint()));
    begin(*out.back());
  }
  return out;
}

// The cost of open connections, each of which has made one request.
Cost measure_connections(const GrowthSettings& settings, long size) {
  return cost_of(settings, [size](const OwnServer& server) {
    return connect(server, size, [](Connection& each) { expect(each.request("GET", "/api/v1/namespaces/default", {}, true), 200, "get"); });
  });
}

// The cost of watches of one collection, each on a separate connection, and of twenty events that each watch receives.
Cost measure_watchers(const GrowthSettings& settings, long size) {
  constexpr long kEvents = 20;
  return cost_of(settings, [size](const OwnServer& server) {
    Connection setup(server.endpoint());
    make_namespace(setup, "growth");
    const std::string path = "/api/v1/namespaces/growth/configmaps?watch=true&resourceVersion=0";
    Connections watchers = connect(server, size, [&path](Connection& each) {
      if (each.begin_stream(path) != 200) throw std::runtime_error("a watch was refused");
    });
    make_objects(server, "growth", kEvents);
    std::string line;
    for (const auto& each : watchers) {
      for (long i = 0; i < kEvents; ++i) {
        if (!each->read_line(line)) throw std::runtime_error("a watch ended early");
      }
    }
    return watchers;
  });
}

// ---- plugins

std::string path_in_own_folder(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

// Writes `size` copies of the plugin to `folder`, each with different digits in its name.
void copy_plugins(const GrowthSettings& settings, const std::string& folder, long size) {
  std::ifstream file(settings.plugin.empty() ? path_in_own_folder("growth.so") : settings.plugin, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.find(kPluginName) == std::string::npos)
    throw std::runtime_error("there is no plugin that calls itself " + std::string(kPluginName));
  for (long i = 0; i < size; ++i) {
    char name[kPluginName.size() + 1];
    std::snprintf(name, sizeof name, "growth-%04ld", i % 10000);
    std::string copy = bytes;
    for (std::size_t at = copy.find(kPluginName); at != std::string::npos; at = copy.find(kPluginName, at + 1))
      copy.replace(at, kPluginName.size(), name);
    std::ofstream(folder + "/" + name + ".so", std::ios::binary) << copy;
  }
}

// The smallest values of several startups.  A startup takes some hundredths of a second, and twice that on a busy machine.
template <class Start>
Usage least_of(const Start& start) {
  constexpr int kStarts = 5;
  Usage out = start();
  for (int i = 1; i < kStarts; ++i) {
    const Usage usage = start();
    out.cpu_seconds = std::min(out.cpu_seconds, usage.cpu_seconds);
    out.rss_kib = std::min(out.rss_kib, usage.rss_kib);
  }
  return out;
}

// The cost of plugins that each serve a separate group: that of a startup with them minus that of a startup without them.
Cost measure_plugins(const GrowthSettings& settings, long size) {
  const auto start_with = [&settings](const std::vector<std::string>& more, long served) {
    std::vector<std::string> flags = flags_of(settings);
    flags.insert(flags.end(), more.begin(), more.end());
    const OwnServer server(settings.server, flags);
    if (served > 0) {
      char path[64];
      std::snprintf(path, sizeof path, "/apis/growth-%04ld.example.com/v1", served - 1);
      expect(Connection(server.endpoint()).request("GET", path, {}, true), 200, "the last plugin's group");
    }
    server.wait_idle();
    return usage_of(server.pid());
  };
  // The flag --plugin-dir replaces the default directory, so that one is named too.
  std::string own = settings.plugin_dir;
  if (own.empty()) {
    own = (std::filesystem::path(settings.server).parent_path().parent_path() / "lib/backplane/plugins").string();
  }
  const std::string folder = make_folder();
  copy_plugins(settings, folder, size);
  Usage with, without;
  try {
    const auto more = settings.plugin_dir.empty() ? std::vector<std::string>{"--plugin-dir", own, "--plugin-dir", folder}
                                                  : std::vector<std::string>{"--plugin-dir", folder};
    without = least_of([&] { return start_with({}, 0); });
    with = least_of([&] { return start_with(more, size); });
  } catch (...) {
    std::filesystem::remove_all(folder);
    throw;
  }
  std::filesystem::remove_all(folder);
  return {with.cpu_seconds - without.cpu_seconds, static_cast<double>(with.rss_kib - without.rss_kib)};
}

// ---- the run

constexpr Quantity kQuantities[] = {{"types", 250, measure_types},
                                    {"kinds", 250, measure_kinds},
                                    {"objects", 5000, measure_objects},
                                    {"watchers", 125, measure_watchers},
                                    {"namespaces", 500, measure_namespaces},
                                    {"plugins", 64, measure_plugins},
                                    {"connections", 125, measure_connections}};

// The slope of the line, by least squares, through the logarithms of the sizes and of the costs.
double exponent(const std::vector<long>& sizes, const std::vector<double>& costs) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = static_cast<double>(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double a = std::log(static_cast<double>(sizes[i]));
    const double b = std::log(std::max(costs[i], 1e-3));
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

struct Result {
  std::string name;
  std::vector<long> sizes;
  std::vector<double> seconds, kib;
};

Result run_quantity(const GrowthSettings& settings, const Quantity& quantity) {
  constexpr int kDoublings = 3;
  Result result{quantity.name, {}, {}, {}};
  for (int doubling = 0; doubling <= kDoublings; ++doubling) {
    const long size = std::max(1L, std::lround(static_cast<double>(quantity.smallest << doubling) * settings.scale));
    const Cost cost = quantity.measure(settings, size);
    result.sizes.push_back(size);
    result.seconds.push_back(cost.seconds);
    result.kib.push_back(cost.kib);
    std::cout << json::serialize(json::object{{"quantity", quantity.name},
                                              {"size", size},
                                              {"server_cpu_s", rounded(cost.seconds)},
                                              {"cpu_us_each", rounded(cost.seconds * 1e6 / static_cast<double>(size))},
                                              {"memory_KB", cost.kib},
                                              {"KB_each", rounded(cost.kib / static_cast<double>(size))}})
              << std::endl;
  }
  return result;
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_growth(const GrowthSettings& settings) {
  raise_file_limit();
  for (const std::string& name : settings.only) {
    const bool known = std::any_of(std::begin(kQuantities), std::end(kQuantities), [&](const Quantity& each) { return each.name == name; });
    if (!known) throw std::runtime_error("there is no quantity " + name);
  }
  std::vector<Result> results;
  for (const Quantity& quantity : kQuantities) {
    if (!settings.only.empty() && std::find(settings.only.begin(), settings.only.end(), quantity.name) == settings.only.end()) continue;
    results.push_back(run_quantity(settings, quantity));
  }
  bool linear = true;
  std::printf(
      "\n| doubled | from | to | CPU each, us | KB each | exponent of time | of memory |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Result& result : results) {
    const double time = exponent(result.sizes, result.seconds);
    const double memory = exponent(result.sizes, result.kib);
    const double last = static_cast<double>(result.sizes.back());
    std::printf("| %s | %ld | %ld | %.0f | %.1f | %.2f | %.2f |\n", result.name.c_str(), result.sizes.front(), result.sizes.back(),
                result.seconds.back() * 1e6 / last, result.kib.back() / last, time, memory);
    linear = linear && time <= kHighest && memory <= kHighest;
  }
  if (!linear) std::printf("\nAn exponent is above %.1f.\n", kHighest);
  return linear ? 0 : 1;
}

}  // namespace bench

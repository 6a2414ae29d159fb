#include "scenarios.hpp"

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "measure.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
namespace json = boost::json;

// Runs `operation` on `clients` connections and prints rate, latency and the server's cost.  `operation` returns the number of bytes it has
// received.
void drive(const std::string& name, const Endpoint& endpoint, const Settings& settings,
           const std::function<std::size_t(Connection&, long number)>& operation) {
  std::atomic<long> next{0}, bytes{0};
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(settings.clients));
  std::mutex mutex;
  std::string first_error;
  if (settings.pid) std::ofstream("/proc/" + std::to_string(settings.pid) + "/clear_refs") << "5";
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < settings.clients; ++i) connections.push_back(std::make_unique<Connection>(endpoint));
  const Usage before = usage_of(settings.pid);
  const auto start = Clock::now();
  const auto end = start + std::chrono::seconds(settings.seconds);
  std::vector<std::thread> threads;
  for (int i = 0; i < settings.clients; ++i) {
    threads.emplace_back([&, i] {
      auto& connection = *connections[static_cast<std::size_t>(i)];
      try {
        while (true) {
          const long number = next.fetch_add(1);
          if (settings.count > 0 ? number >= settings.count : Clock::now() > end) return;
          const auto begin = Clock::now();
          bytes += static_cast<long>(operation(connection, number));
          latencies[static_cast<std::size_t>(i)].push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        }
      } catch (const std::exception& error) {
        std::lock_guard lock(mutex);
        if (first_error.empty()) first_error = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Usage after = usage_of(settings.pid);
  std::vector<double> all;
  for (auto& part : latencies) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  auto quantile = [&](double q) {
    return all.empty() ? 0.0 : rounded(all[static_cast<std::size_t>(q * static_cast<double>(all.size() - 1))]);
  };
  json::object out{{"scenario", name},
                   {"clients", settings.clients},
                   {"ops", all.size()},
                   {"ops_s", rounded(static_cast<double>(all.size()) / seconds)}};
  out["p50_ms"] = quantile(0.5);
  out["p99_ms"] = quantile(0.99);
  out["p999_ms"] = quantile(0.999);
  out["MB_s"] = rounded(static_cast<double>(bytes) / seconds / 1e6);
  if (settings.pid && !all.empty()) {
    const auto each = static_cast<double>(all.size());
    out["server_cpu_us_op"] = rounded((after.cpu_seconds - before.cpu_seconds) * 1e6 / each);
    out["server_kernel_us_op"] = rounded((after.kernel_seconds - before.kernel_seconds) * 1e6 / each);
    if (bytes > 0) out["server_cpu_ns_byte"] = rounded((after.cpu_seconds - before.cpu_seconds) * 1e9 / static_cast<double>(bytes));
    out["rss_before_MB"] = before.rss_kib / 1024;
    out["peak_MB"] = after.peak_kib / 1024;
  }
  if (!first_error.empty()) out["error"] = first_error;
  std::cout << json::serialize(out) << std::endl;
}

std::string base_path(const Settings& settings) { return "/api/v1/namespaces/" + settings.ns + "/" + settings.resource; }

std::string unique_prefix() { return "b" + std::to_string(Clock::now().time_since_epoch().count() % 100000000); }

std::string body_of(const Settings& settings, const std::string& name) {
  if (settings.resource == "configmaps") {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"config":")" + std::string(1000, 'x') +
           R"("}})";
  }
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":"bench","tier":"web","pod-template-hash":"5d4f8c7b9"},"annotations":{"checksum/config":"0123456789abcdef0123456789abcdef"}},)"
         R"("spec":{"automountServiceAccountToken":false,"containers":[{"name":"web","image":"registry.example.com/team/web:v1.2",)"
         R"("ports":[{"containerPort":8080,"name":"http"}],"env":[{"name":"REGION","value":"north"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],)"
         R"("resources":{"requests":{"cpu":"250m","memory":"128Mi"},"limits":{"memory":"512Mi"}},"livenessProbe":{"httpGet":{"path":"/healthz","port":8080}},)"
         R"("volumeMounts":[{"name":"cfg","mountPath":"/etc/cfg"}]}],"volumes":[{"name":"cfg","configMap":{"name":"web"}}],"nodeSelector":{"zone":"a"},)"
         R"("tolerations":[{"key":"dedicated","operator":"Exists"}]}})";
}

void ensure_namespace(Connection& connection, const Settings& settings) {
  const Response made = connection.request("POST", "/api/v1/namespaces",
                                           R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + settings.ns + R"("}})");
  if (made.code != 201 && made.code != 409) expect(made, 201, "creating the namespace");
}

std::size_t create_one(Connection& connection, const Settings& settings, const std::string& name) {
  const Response response = connection.request("POST", base_path(settings), body_of(settings, name));
  expect(response, 201, "create");
  return response.body_bytes;
}

}  // namespace

void run_get(const Endpoint& endpoint, const Settings& settings) {
  Connection setup(endpoint);
  ensure_namespace(setup, settings);
  const std::string name = unique_prefix();
  create_one(setup, settings, name);
  const std::string target = base_path(settings) + "/" + name;
  drive("get", endpoint, settings, [&](Connection& connection, long) {
    const Response response = connection.request("GET", target, {}, true);
    expect(response, 200, "get");
    return response.body_bytes;
  });
  setup.request("DELETE", target + "?gracePeriodSeconds=0");
}

void run_path(const Endpoint& endpoint, const Settings& settings) {
  if (settings.path.empty()) throw std::runtime_error("--path is required");
  drive("path", endpoint, settings, [&](Connection& connection, long) {
    const Response response = connection.request("GET", settings.path, {}, true);
    expect(response, 200, "get");
    return response.body_bytes;
  });
}

void run_create(const Endpoint& endpoint, const Settings& settings) {
  Connection setup(endpoint);
  ensure_namespace(setup, settings);
  const std::string prefix = unique_prefix();
  drive("create", endpoint, settings,
        [&](Connection& connection, long number) { return create_one(connection, settings, prefix + "-" + std::to_string(number)); });
}

void run_list(const Endpoint& endpoint, const Settings& settings) {
  const std::string target = base_path(settings) + settings.query;
  drive("list", endpoint, settings, [&](Connection& connection, long) {
    const Response response = connection.request("GET", target, {}, true);
    expect(response, 200, "list");
    return response.body_bytes;
  });
}

void run_fanout(const Endpoint& endpoint, const Settings& settings) {
  Connection setup(endpoint);
  ensure_namespace(setup, settings);
  const Response list = setup.request("GET", base_path(settings) + "?limit=1");
  expect(list, 200, "list");
  const auto version = json::parse(list.body).at("metadata").at("resourceVersion").as_string();
  const std::string target = base_path(settings) + "?watch=true&resourceVersion=" + std::string(version);
  const long events = settings.count > 0 ? settings.count : 500;

  std::atomic<long> delivered{0};
  std::vector<std::unique_ptr<Connection>> watches;
  for (int i = 0; i < settings.watchers; ++i) {
    watches.push_back(std::make_unique<Connection>(endpoint));
    if (watches.back()->begin_stream(target) != 200) throw std::runtime_error("a watch was refused");
  }
  std::vector<std::thread> readers;
  for (auto& watch : watches) {
    readers.emplace_back([&, connection = watch.get()] {
      std::string line;
      try {
        while (connection->read_line(line)) ++delivered;
      } catch (const std::exception&) {
        // shut down at the end of the run
      }
    });
  }
  const Usage before = usage_of(settings.pid);
  const auto start = Clock::now();
  Settings writers = settings;
  writers.clients = 4;
  writers.count = events;
  const std::string prefix = unique_prefix();
  drive("fanout-creates", endpoint, writers,
        [&](Connection& connection, long number) { return create_one(connection, writers, prefix + "-" + std::to_string(number)); });
  const long wanted = events * settings.watchers;
  const auto deadline = Clock::now() + std::chrono::seconds(120);
  while (delivered < wanted && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Usage after = usage_of(settings.pid);
  json::object out{{"scenario", "fanout"}, {"watchers", settings.watchers}, {"delivered", delivered.load()}, {"wanted", wanted}};
  out["deliveries_s"] = rounded(static_cast<double>(delivered) / seconds);
  if (settings.pid) {
    const auto each = static_cast<double>(delivered);
    out["server_cpu_us_delivery"] = rounded((after.cpu_seconds - before.cpu_seconds) * 1e6 / each);
    out["server_kernel_us_delivery"] = rounded((after.kernel_seconds - before.kernel_seconds) * 1e6 / each);
  }
  std::cout << json::serialize(out) << std::endl;
  for (auto& watch : watches) watch->shut_down();
  for (auto& reader : readers) reader.join();
}

void run_idle(const Endpoint&, const Settings& settings) {
  const Usage before = usage_of(settings.pid);
  std::this_thread::sleep_for(std::chrono::seconds(settings.seconds));
  const Usage after = usage_of(settings.pid);
  json::object out{{"scenario", "idle"}, {"rss_MB", rounded(static_cast<double>(after.rss_kib) / 1024)}};
  out["mcpu"] = rounded((after.cpu_seconds - before.cpu_seconds) / settings.seconds * 1000);
  std::cout << json::serialize(out) << std::endl;
}

}  // namespace bench

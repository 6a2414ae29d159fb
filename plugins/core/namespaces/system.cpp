#include "namespaces/system.hpp"

#include <array>

#include "backplane/json.hpp"

namespace backplane::core {
namespace {

constexpr std::array<std::string_view, 4> kSystemNamespaces = {"default", "kube-system", "kube-public", "kube-node-lease"};
constexpr int kAttempts = 50;
constexpr std::chrono::milliseconds kPause{100};

// Upstream's intervals: systemnamespaces.NewController, kubernetesservice.Controller.EndpointInterval.
constexpr std::chrono::seconds kNamespacesInterval{60};
constexpr std::chrono::seconds kServiceInterval{10};

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string namespace_body(std::string_view name) {
  return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + std::string(name) + R"("}})";
}

// Makes the object unless it is there.  The server may still be opening its store: "not now" is asked again.
Task<Status> ensure(LoopbackClient& client, std::string collection, std::string name, std::string body) {
  Headers headers;
  headers.emplace_back("Content-Type", "application/json");
  std::string last;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto have = co_await client.request("GET", collection + "/" + name, {}, "");
    if (have.code == 200) co_return Status();
    if (have.code == 404) {
      auto made = co_await client.request("POST", collection, headers, body);
      if (made.code == 201 || made.code == 409) co_return Status();
      if (made.code != 429 && made.code < 500) {
        co_return Status(Reason::kInternalError, "unable to create " + collection + "/" + name + ": " + without_newline(made.body));
      }
      have = std::move(made);
    }
    last = std::move(have.body);
    co_await sleep_for(kPause);
  }
  co_return Status(Reason::kInternalError, "unable to create " + collection + "/" + name + ": " + without_newline(last));
}

}  // namespace

Task<Status> make_system_namespaces(LoopbackClient& client) {
  for (std::string_view name : kSystemNamespaces) {
    std::string body = namespace_body(name);
    Status status = co_await ensure(client, "/api/v1/namespaces", std::string(name), std::move(body));
    if (!status.ok()) co_return status;
  }
  co_return Status();
}

Task<Status> make_kubernetes_service(LoopbackClient& client, KubernetesService service) {
  std::string default_body = namespace_body("default");
  Status status = co_await ensure(client, "/api/v1/namespaces", "default", std::move(default_body));
  if (!status.ok()) co_return status;
  std::string body =
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",)"
      R"("labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"type":"ClusterIP","sessionAffinity":"None","clusterIP":")" +
      service.cluster_ip + R"(","ports":[{"name":"https","protocol":"TCP","port":443,"targetPort":)" + std::to_string(service.target_port) +
      "}]}}";
  status = co_await ensure(client, "/api/v1/namespaces/default/services", "kubernetes", std::move(body));
  co_return status;
}

Task<void> keep_system_namespaces(LoopbackClient& client, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kNamespacesInterval)) {
    Status status = co_await make_system_namespaces(client);
    if (!status.ok() && !stop.fired()) logger.error(status.message());
  }
}

Task<void> keep_kubernetes_service(LoopbackClient& client, KubernetesService service, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kServiceInterval)) {
    Status status = co_await make_kubernetes_service(client, service);
    if (!status.ok() && !stop.fired()) logger.error("unable to sync kubernetes service: " + status.message());
  }
}

}  // namespace backplane::core

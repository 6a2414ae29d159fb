#include "namespaces/kubernetes_service.hpp"

#include "namespaces/kubernetes_endpoints.hpp"
#include "namespaces/server_readiness.hpp"
#include "namespaces/system.hpp"

namespace backplane::core {
namespace {

constexpr const char* kNamespace = "default";
constexpr const char* kName = "kubernetes";
// Upstream's: kubernetesservice.Controller.EndpointInterval and its Run.
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kBusyPause{10};
constexpr int kConflicts = 5;

Object new_endpoints() {
  return json::parse(R"({"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"kubernetes","namespace":"default"}})").get_object();
}

Object new_slice(std::string_view type) {
  Object out;
  out["kind"] = "EndpointSlice";
  out["apiVersion"] = "discovery.k8s.io/v1";
  Object& metadata = out["metadata"].emplace_object();
  metadata["name"] = kName;
  metadata["namespace"] = kNamespace;
  out["addressType"] = type;
  return out;
}

GroupVersionResource slices() { return {"discovery.k8s.io", "v1", "endpointslices"}; }

}  // namespace

bool KubernetesServiceController::keeps_endpoints() const {
  return !service_.advertise_address.empty() && !is_loopback(service_.advertise_address);
}

Task<Status> KubernetesServiceController::make_service() {
  const GroupVersionResource namespaces{"", "v1", "namespaces"}, services{"", "v1", "services"};
  Status status = co_await make_if_missing(*client_, namespaces, "", new_namespace(kNamespace));
  if (!status.ok()) co_return status;
  const std::string type = service_.node_port > 0 ? "NodePort" : "ClusterIP";
  const std::string node_port = service_.node_port > 0 ? ",\"nodePort\":" + std::to_string(service_.node_port) : "";
  const std::string text = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",)"
                           R"("labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"type":")" +
                           type + R"(","sessionAffinity":"None","ipFamilyPolicy":"SingleStack","clusterIP":")" + service_.cluster_ip +
                           R"(","ports":[{"name":"https","protocol":"TCP","port":443,"targetPort":)" +
                           std::to_string(service_.secure_port) + node_port + "}]}}";
  Object service = json::parse(text).get_object();
  status = co_await make_if_missing(*client_, services, kNamespace, std::move(service));
  co_return status;
}

Task<Status> KubernetesServiceController::reconcile(bool present) {
  Result<Change> change = change_by_count(present);
  if (leases_) change = co_await change_by_leases(present);
  if (!change.ok()) co_return std::move(change).status();
  auto endpoints = co_await reconcile_endpoints(std::move(*change));
  if (!endpoints.ok()) co_return std::move(endpoints).status();
  if (endpoints->empty() || host_.find_storage(slices()) == nullptr) co_return Status();
  Status status = co_await reconcile_slice(std::move(*endpoints));
  co_return status;
}

// Renews or removes this server's record. Returns a change that sets the addresses of all servers that have a record.
Task<Result<KubernetesServiceController::Change>> KubernetesServiceController::change_by_leases(bool present) {
  auto keeping = present ? leases_->renew(service_.advertise_address) : leases_->remove(service_.advertise_address);
  Status kept = co_await std::move(keeping);
  if (!kept.ok()) co_return kept;
  auto addresses = co_await leases_->addresses();
  if (!addresses.ok()) co_return std::move(addresses).status();
  co_return Change([wanted = std::move(*addresses), port = service_.secure_port](Object& endpoints) {
    return set_kubernetes_endpoints(endpoints, wanted, port);
  });
}

KubernetesServiceController::Change KubernetesServiceController::change_by_count(bool present) const {
  return [service = service_, present](Object& endpoints) {
    if (!present) return remove_kubernetes_address(endpoints, service.advertise_address);
    return add_kubernetes_address(endpoints, service.advertise_address, service.secure_port, service.servers);
  };
}

// Reads, changes and writes the endpoints. Retries after a conflict, up to kConflicts times.
Task<Result<Object>> KubernetesServiceController::reconcile_endpoints(Change change) {
  const GroupVersionResource resource{"", "v1", "endpoints"};
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client_->get(resource, kNamespace, kName);
    const bool missing = !have.ok() && have.status().code() == 404;
    if (!have.ok() && !missing) co_return std::move(have).status();
    Object endpoints = missing ? new_endpoints() : std::move(*have);
    const bool changed = change(endpoints);
    if (missing && find(endpoints, "subsets") == nullptr) co_return Object();
    if (!changed) co_return endpoints;
    const Value* subsets = find(endpoints, "subsets");
    const std::string value = subsets != nullptr ? to_json(*subsets) : std::string();
    if (attempt == 0 && !stopped_ && pauses_.claim(kName, value).count() > 0) co_return Object();
    Object sent = endpoints;
    auto writing =
        missing ? client_->create(resource, kNamespace, std::move(sent)) : client_->update(resource, kNamespace, std::move(sent));
    auto written = co_await std::move(writing);
    if (written.ok()) co_return endpoints;
    if (written.status().code() != 409) co_return std::move(written).status();
  }
  co_return Status(Reason::kConflict, "another client keeps changing the endpoints of service kubernetes");
}

Task<Status> KubernetesServiceController::reconcile_slice(Object endpoints) {
  const json::string type(kubernetes_slice_type(endpoints));
  // Without an address the type does not matter.
  const bool needs_type = find(endpoints, "subsets") != nullptr;
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client_->get(slices(), kNamespace, kName);
    bool missing = !have.ok() && have.status().code() == 404;
    if (!have.ok() && !missing) co_return std::move(have).status();
    if (!missing && needs_type && get_string(*have, "addressType") != type) {
      auto removed = co_await client_->remove(slices(), kNamespace, kName);
      if (!removed.ok() && removed.status().code() != 404) co_return std::move(removed).status();
      missing = true;
    }
    Object slice = missing ? new_slice(type) : std::move(*have);
    if (!set_kubernetes_slice(slice, endpoints) && !missing) co_return Status();
    auto writing =
        missing ? client_->create(slices(), kNamespace, std::move(slice)) : client_->update(slices(), kNamespace, std::move(slice));
    auto written = co_await std::move(writing);
    if (written.ok()) co_return Status();
    if (written.status().code() != 409) co_return std::move(written).status();
  }
  co_return Status(Reason::kConflict, "another client keeps changing the endpoint slice of service kubernetes");
}

Task<Status> KubernetesServiceController::start(PostStartHookContext context) {
  client_.emplace(host_.client());
  Status made = co_await make_service();
  if (!made.ok()) host_.logger().error("unable to sync kubernetes service: " + made.message());
  if (!service_.advertise_address.empty() && !keeps_endpoints()) {
    host_.logger().info("no endpoints for service kubernetes: --advertise-address is a loopback address address=" +
                        service_.advertise_address);
  }
  host_.spawn("kubernetes-service-controller", run(context.stop));
  co_return Status();
}

Task<void> KubernetesServiceController::remove_endpoints() {
  Status status = co_await reconcile(false);
  if (!status.ok()) host_.logger().error("unable to remove endpoints from kubernetes service: " + status.message());
}

Task<void> KubernetesServiceController::run(Signal& stop) {
  Sleeper sleeper(stop);
  // Removes the address that this server left behind if it crashed, so that clients do not connect before the server is ready.
  if (keeps_endpoints()) co_await remove_endpoints();
  auto waiting = wait_until_ready(*client_, stop, stopped_);
  co_await std::move(waiting);
  bool running = !stop.fired();
  while (running && !stopped_) {
    busy_ = true;
    Status status = co_await make_service();
    if (status.ok() && keeps_endpoints()) status = co_await reconcile(true);
    busy_ = false;
    if (!status.ok() && !stop.fired()) host_.logger().error("unable to sync kubernetes service: " + status.message());
    running = co_await sleeper.sleep(kInterval);
  }
}

Task<Status> KubernetesServiceController::stop() {
  stopped_ = true;
  if (!client_ || !keeps_endpoints()) co_return Status();
  host_.logger().info("shutting down kubernetes service endpoint reconciler");
  // A running pass must not write after this removal.
  while (busy_) co_await sleep_for(kBusyPause);
  co_await remove_endpoints();
  co_return Status();
}

}  // namespace backplane::core

#include "namespaces/kubernetes_service.hpp"

#include "backplane/kit/walk.hpp"
#include "namespaces/ready.hpp"
#include "namespaces/system.hpp"

namespace backplane::core {
namespace {

constexpr const char* kNamespace = "default";
constexpr const char* kName = "kubernetes";
// The endpoint slice mirroring controller leaves such endpoints alone.
constexpr std::string_view kSkipMirror = "endpointslice.kubernetes.io/skip-mirror";

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

Array wanted_subsets(const std::vector<std::string>& addresses, int port) {
  Object endpoint;
  endpoint["name"] = "https";
  endpoint["port"] = port;
  endpoint["protocol"] = "TCP";
  Object subset;
  Array& list = subset["addresses"].emplace_array();
  for (const std::string& address : addresses) list.emplace_back(Object()).get_object()["ip"] = address;
  subset["ports"] = Array{std::move(endpoint)};
  return Array{std::move(subset)};
}

GroupVersionResource slices() { return {"discovery.k8s.io", "v1", "endpointslices"}; }

// Without an address the type does not matter.
std::string_view type_of(const std::string& address) { return address.find(':') == std::string::npos ? "IPv4" : "IPv6"; }

Array wanted_endpoints(const std::vector<std::string>& addresses) {
  Array list;
  for (const std::string& address : addresses) {
    Object& endpoint = list.emplace_back(Object()).get_object();
    endpoint["addresses"] = Array{json::string(address)};
    endpoint["conditions"].emplace_object()["ready"] = true;
  }
  return list;
}

// A slice holds addresses of one type.
std::vector<std::string> of_type(std::string_view type, const std::vector<std::string>& addresses) {
  std::vector<std::string> out;
  std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(out),
               [&](const std::string& address) { return type_of(address) == type; });
  return out;
}

Array wanted_slice_ports(int port) {
  Object out;
  out["name"] = "https";
  out["protocol"] = "TCP";
  out["port"] = port;
  return Array{std::move(out)};
}

// Puts a list in its place; nothing and an empty one are the same.
bool set_list(Object& object, std::string_view key, Array wanted) {
  const Array* have = get_array(object, key);
  if (have != nullptr ? *have == wanted : wanted.empty()) return false;
  object[key] = std::move(wanted);
  return true;
}

}  // namespace

bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port) {
  bool changed = false;
  Object& labels = ensure_object(ensure_object(endpoints, "metadata"), "labels");
  if (get_string(labels, kSkipMirror) != "true") {
    labels[kSkipMirror] = "true";
    changed = true;
  }
  if (addresses.empty()) return erase_member(endpoints, "subsets") || changed;
  Array wanted = wanted_subsets(addresses, port);
  const Array* subsets = get_array(endpoints, "subsets");
  if (subsets != nullptr && *subsets == wanted) return changed;
  endpoints["subsets"] = std::move(wanted);
  return true;
}

bool set_kubernetes_slice(Object& slice, const std::vector<std::string>& addresses, int port) {
  Object labels;
  labels["kubernetes.io/service-name"] = kName;
  Object& metadata = ensure_object(slice, "metadata");
  bool changed = kit::object_or_empty(metadata, "labels") != labels;
  metadata["labels"] = std::move(labels);
  changed = set_list(slice, "endpoints", wanted_endpoints(addresses)) || changed;
  return set_list(slice, "ports", addresses.empty() ? Array() : wanted_slice_ports(port)) || changed;
}

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

// This server's record is written, or taken away; what the others have written is kept while they renew it.
Task<Status> KubernetesServiceController::reconcile(bool present) {
  auto keeping = present ? leases_.renew(service_.advertise_address) : leases_.remove(service_.advertise_address);
  Status kept = co_await std::move(keeping);
  if (!kept.ok()) co_return kept;
  auto addresses = co_await leases_.addresses();
  if (!addresses.ok()) co_return std::move(addresses).status();
  Status status = co_await reconcile_endpoints(*addresses);
  if (!status.ok() || host_.find_storage(slices()) == nullptr) co_return status;
  status = co_await reconcile_slice(of_type(type_of(service_.advertise_address), *addresses));
  co_return status;
}

// Reads, changes and writes until nobody came between.
Task<Status> KubernetesServiceController::reconcile_endpoints(std::vector<std::string> addresses) {
  const GroupVersionResource resource{"", "v1", "endpoints"};
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client_->get(resource, kNamespace, kName);
    const bool missing = !have.ok() && have.status().code() == 404;
    if (!have.ok() && !missing) co_return std::move(have).status();
    if (missing && addresses.empty()) co_return Status();
    Object endpoints = missing ? new_endpoints() : std::move(*have);
    if (!set_kubernetes_endpoints(endpoints, addresses, service_.secure_port)) co_return Status();
    auto writing =
        missing ? client_->create(resource, kNamespace, std::move(endpoints)) : client_->update(resource, kNamespace, std::move(endpoints));
    auto written = co_await std::move(writing);
    if (written.ok()) co_return Status();
    if (written.status().code() != 409) co_return std::move(written).status();
  }
  co_return Status(Reason::kConflict, "somebody else keeps writing the endpoints of service kubernetes");
}

Task<Status> KubernetesServiceController::reconcile_slice(std::vector<std::string> addresses) {
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client_->get(slices(), kNamespace, kName);
    bool missing = !have.ok() && have.status().code() == 404;
    if (!have.ok() && !missing) co_return std::move(have).status();
    if (missing && addresses.empty()) co_return Status();
    if (!missing && !addresses.empty() && get_string(*have, "addressType") != type_of(service_.advertise_address)) {
      auto removed = co_await client_->remove(slices(), kNamespace, kName);
      if (!removed.ok() && removed.status().code() != 404) co_return std::move(removed).status();
      missing = true;
    }
    Object slice = missing ? new_slice(type_of(service_.advertise_address)) : std::move(*have);
    if (!set_kubernetes_slice(slice, addresses, service_.secure_port)) co_return Status();
    auto writing =
        missing ? client_->create(slices(), kNamespace, std::move(slice)) : client_->update(slices(), kNamespace, std::move(slice));
    auto written = co_await std::move(writing);
    if (written.ok()) co_return Status();
    if (written.status().code() != 409) co_return std::move(written).status();
  }
  co_return Status(Reason::kConflict, "somebody else keeps writing the endpoint slice of service kubernetes");
}

Task<Status> KubernetesServiceController::start(PostStartHookContext context) {
  client_.emplace(host_.client());
  Status made = co_await make_service();
  if (!made.ok()) host_.logger().error("unable to sync kubernetes service: " + made.message());
  if (!service_.advertise_address.empty() && !keeps_endpoints()) {
    host_.logger().info("endpoints of service kubernetes are not kept: --advertise-address is a loopback address address=" +
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
  // What a server that did not end well has left: nobody is sent here before it can answer.
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
  // What a running pass writes must not come after what is removed here.
  while (busy_) co_await sleep_for(kBusyPause);
  co_await remove_endpoints();
  co_return Status();
}

}  // namespace backplane::core

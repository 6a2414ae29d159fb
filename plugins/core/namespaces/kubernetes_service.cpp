#include "namespaces/kubernetes_service.hpp"

#include "namespaces/system.hpp"

namespace backplane::core {
namespace {

constexpr const char* kNamespace = "default";
constexpr const char* kName = "kubernetes";
// The endpoint slice mirroring controller leaves such endpoints alone.
constexpr std::string_view kSkipMirror = "endpointslice.kubernetes.io/skip-mirror";

// Upstream's: kubernetesservice.Controller.EndpointInterval and its Run.
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kReadyPause{100};
constexpr std::chrono::milliseconds kBusyPause{10};
constexpr int kConflicts = 5;

Object new_endpoints() {
  return json::parse(R"({"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"kubernetes","namespace":"default"}})").get_object();
}

Array wanted_subsets(const std::string& address, int port) {
  Object endpoint;
  endpoint["name"] = "https";
  endpoint["port"] = port;
  endpoint["protocol"] = "TCP";
  Object at;
  at["ip"] = address;
  Object subset;
  subset["addresses"] = Array{std::move(at)};
  subset["ports"] = Array{std::move(endpoint)};
  return Array{std::move(subset)};
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

bool set_kubernetes_endpoints(Object& endpoints, const std::string& address, int port) {
  bool changed = false;
  Object& labels = ensure_object(ensure_object(endpoints, "metadata"), "labels");
  if (get_string(labels, kSkipMirror) != "true") {
    labels[kSkipMirror] = "true";
    changed = true;
  }
  if (address.empty()) return erase_member(endpoints, "subsets") || changed;
  Array wanted = wanted_subsets(address, port);
  const Array* subsets = get_array(endpoints, "subsets");
  if (subsets != nullptr && *subsets == wanted) return changed;
  endpoints["subsets"] = std::move(wanted);
  return true;
}

bool KubernetesServiceController::keeps_endpoints() const {
  // Endpoints cannot hold a loopback address: nobody else could reach the server there.
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

// Reads, changes and writes until nobody came between.
Task<Status> KubernetesServiceController::reconcile(bool present) {
  const GroupVersionResource resource{"", "v1", "endpoints"};
  const std::string address = present ? service_.advertise_address : std::string();
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client_->get(resource, kNamespace, kName);
    const bool missing = !have.ok() && have.status().code() == 404;
    if (!have.ok() && !missing) co_return std::move(have).status();
    if (missing && !present) co_return Status();
    Object endpoints = missing ? new_endpoints() : std::move(*have);
    if (!set_kubernetes_endpoints(endpoints, address, service_.secure_port)) co_return Status();
    auto writing =
        missing ? client_->create(resource, kNamespace, std::move(endpoints)) : client_->update(resource, kNamespace, std::move(endpoints));
    auto written = co_await std::move(writing);
    if (written.ok()) co_return Status();
    if (written.status().code() != 409) co_return std::move(written).status();
  }
  co_return Status(Reason::kConflict, "somebody else keeps writing the endpoints of service kubernetes");
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

Task<void> KubernetesServiceController::wait_until_ready(Signal& stop) {
  Sleeper sleeper(stop);
  bool running = !stop.fired();
  while (running && !stopped_) {
    HttpCall call;
    call.target = "/readyz";
    auto ready = co_await client_->http()->call(std::move(call));
    if (ready.ok() && (*ready)->code() == 200) co_return;
    running = co_await sleeper.sleep(kReadyPause);
  }
}

Task<void> KubernetesServiceController::run(Signal& stop) {
  Sleeper sleeper(stop);
  // What a server that did not end well has left: nobody is sent here before it can answer.
  if (keeps_endpoints()) co_await remove_endpoints();
  co_await wait_until_ready(stop);
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

#include "namespaces/kubernetes_service.hpp"

#include "namespaces/system.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kServices = "/api/v1/namespaces/default/services";
constexpr std::string_view kEndpoints = "/api/v1/namespaces/default/endpoints";
constexpr std::string_view kName = "kubernetes";
// The endpoint slice mirroring controller leaves such endpoints alone.
constexpr std::string_view kSkipMirror = "endpointslice.kubernetes.io/skip-mirror";

// Upstream's: kubernetesservice.Controller.EndpointInterval and its Run.
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kReadyPause{100};
constexpr std::chrono::milliseconds kBusyPause{10};
constexpr int kConflicts = 5;

Status refused(const LoopbackClient::Response& response) {
  std::string text = response.body;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Status(Reason::kInternalError, "answer " + std::to_string(response.code) + ": " + text);
}

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

Task<Status> KubernetesServiceController::make_service(LoopbackClient& client) {
  std::string default_body = namespace_body("default");
  Status status = co_await make_if_missing(client, "/api/v1/namespaces", "default", std::move(default_body));
  if (!status.ok()) co_return status;
  const std::string type = service_.node_port > 0 ? "NodePort" : "ClusterIP";
  const std::string node_port = service_.node_port > 0 ? ",\"nodePort\":" + std::to_string(service_.node_port) : "";
  std::string body = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",)"
                     R"("labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"type":")" +
                     type + R"(","sessionAffinity":"None","ipFamilyPolicy":"SingleStack","clusterIP":")" + service_.cluster_ip +
                     R"(","ports":[{"name":"https","protocol":"TCP","port":443,"targetPort":)" + std::to_string(service_.secure_port) +
                     node_port + "}]}}";
  status = co_await make_if_missing(client, std::string(kServices), std::string(kName), std::move(body));
  co_return status;
}

// Reads, changes and writes until nobody came between.
Task<Status> KubernetesServiceController::reconcile(LoopbackClient& client, bool present) {
  const std::string address = present ? service_.advertise_address : std::string();
  const std::string path = std::string(kEndpoints) + "/" + std::string(kName);
  Headers headers;
  headers.emplace_back("Content-Type", "application/json");
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto have = co_await client.request("GET", path, {}, "");
    if (have.code != 200 && have.code != 404) co_return refused(have);
    if (have.code == 404 && !present) co_return Status();
    Object endpoints = new_endpoints();
    if (have.code == 200) endpoints = json::parse(have.body).get_object();
    if (!set_kubernetes_endpoints(endpoints, address, service_.secure_port)) co_return Status();
    const std::string method = have.code == 200 ? "PUT" : "POST";
    const std::string target = have.code == 200 ? path : std::string(kEndpoints);
    std::string body = to_json(endpoints);
    auto written = co_await client.request(method, target, headers, std::move(body));
    if (written.code == 200 || written.code == 201) co_return Status();
    if (written.code != 409) co_return refused(written);
  }
  co_return Status(Reason::kConflict, "somebody else keeps writing the endpoints of service kubernetes");
}

Task<Status> KubernetesServiceController::start(PostStartHookContext context) {
  client_ = &context.loopback;
  Status made = co_await make_service(context.loopback);
  if (!made.ok()) host_.logger().error("unable to sync kubernetes service: " + made.message());
  if (!service_.advertise_address.empty() && !keeps_endpoints()) {
    host_.logger().info("endpoints of service kubernetes are not kept: --advertise-address is a loopback address address=" +
                        service_.advertise_address);
  }
  host_.spawn("kubernetes-service-controller", run(context.loopback, context.stop));
  co_return Status();
}

Task<void> KubernetesServiceController::remove_endpoints(LoopbackClient& client) {
  Status status = co_await reconcile(client, false);
  if (!status.ok()) host_.logger().error("unable to remove endpoints from kubernetes service: " + status.message());
}

Task<void> KubernetesServiceController::wait_until_ready(LoopbackClient& client, Signal& stop) {
  Sleeper sleeper(stop);
  bool running = !stop.fired();
  while (running && !stopped_) {
    auto ready = co_await client.request("GET", "/readyz", {}, "");
    if (ready.code == 200) co_return;
    running = co_await sleeper.sleep(kReadyPause);
  }
}

Task<void> KubernetesServiceController::run(LoopbackClient& client, Signal& stop) {
  Sleeper sleeper(stop);
  // What a server that did not end well has left: nobody is sent here before it can answer.
  if (keeps_endpoints()) co_await remove_endpoints(client);
  co_await wait_until_ready(client, stop);
  bool running = !stop.fired();
  while (running && !stopped_) {
    busy_ = true;
    Status status = co_await make_service(client);
    if (status.ok() && keeps_endpoints()) status = co_await reconcile(client, true);
    busy_ = false;
    if (!status.ok() && !stop.fired()) host_.logger().error("unable to sync kubernetes service: " + status.message());
    running = co_await sleeper.sleep(kInterval);
  }
}

Task<Status> KubernetesServiceController::stop() {
  stopped_ = true;
  if (client_ == nullptr || !keeps_endpoints()) co_return Status();
  host_.logger().info("shutting down kubernetes service endpoint reconciler");
  // What a running pass writes must not come after what is removed here.
  while (busy_) co_await sleep_for(kBusyPause);
  co_await remove_endpoints(*client_);
  co_return Status();
}

}  // namespace backplane::core

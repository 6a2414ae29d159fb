#include "remote_services.hpp"

#include <algorithm>

namespace backplane {
namespace {

constexpr std::int64_t kDefaultPort = 443;

// What a proxy answers for a service that it cannot reach.
class Unavailable final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("service unavailable\n"));
    co_await exchange.respond(503, "text/plain; charset=utf-8", std::move(body));
  }
};

const Object& member_object(const Object& parent, std::string_view key) {
  static const Object kEmpty;
  const Object* found = get_object(parent, key);
  return found ? *found : kEmpty;
}

int small_int(const Object& object, std::string_view key) { return static_cast<int>(get_int(object, key).value_or(0)); }

std::vector<const Object*> objects_of(const Object& parent, std::string_view key) {
  std::vector<const Object*> out;
  if (const Array* list = get_array(parent, key)) {
    for (const Value& item : *list) {
      if (item.is_object()) out.push_back(&item.get_object());
    }
  }
  return out;
}

bool has_port_named(const Object& parent, const std::string& name) {
  const auto ports = objects_of(parent, "ports");
  return std::any_of(ports.begin(), ports.end(), [&](const Object* port) { return get_string(*port, "name") == name; });
}

// An endpoint without a word about it is ready.
bool is_ready(const Object& endpoint) { return get_bool(member_object(endpoint, "conditions"), "ready").value_or(true); }

bool slice_has(const Object& slice, const std::string& port_name) {
  const auto endpoints = objects_of(slice, "endpoints");
  const bool ready = std::any_of(endpoints.begin(), endpoints.end(), [](const Object* each) { return is_ready(*each); });
  const auto ports = objects_of(slice, "ports");
  // One without a number stands for all ports, and is none to be called.
  const auto fits = [&](const Object* port) {
    return port->contains("name") && get_string(*port, "name") == port_name && get_int(*port, "port").has_value();
  };
  return ready && std::any_of(ports.begin(), ports.end(), fits);
}

bool subset_has(const Object& subset, const std::string& port_name) {
  return !objects_of(subset, "addresses").empty() && has_port_named(subset, port_name);
}

// Under this index endpoints are found by their service, "namespace/name".
constexpr std::string_view kServiceIndex = "service";

std::vector<std::string> service_of_slice(const ObjectEntry& slice) {
  for (const auto& [key, value] : slice.labels) {
    if (key == "kubernetes.io/service-name") return {object_key(slice.ns, value)};
  }
  return {};
}
std::vector<std::string> service_of_endpoints(const ObjectEntry& endpoints) { return {object_key(endpoints)}; }

}  // namespace

const Object* service_of(const Object& apiservice) {
  const Value* service = find_path(apiservice, "spec.service");
  return service && service->is_object() ? &service->get_object() : nullptr;
}

struct RemoteServices::Target {
  explicit Target(const Object& apiservice) : spec(member_object(apiservice, "spec")) {
    const Object& service = member_object(spec, "service");
    ns = get_string(service, "namespace");
    name = get_string(service, "name");
    port = get_int(service, "port").value_or(kDefaultPort);
  }
  std::string key() const { return object_key(ns, name); }
  // `service/NAME in "NAMESPACE"`, as messages name it.
  std::string words() const { return "service/" + name + " in " + quoted(ns); }
  // At the host of its service.
  std::string discovery_url(const std::string& host) const {
    const GroupVersion version{std::string(get_string(spec, "group")), std::string(get_string(spec, "version"))};
    const bool bare_ipv6 = host.find(':') != std::string::npos;
    return "https://" + (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port) + version.path();
  }

  const Object& spec;
  std::string ns, name;
  std::int64_t port = kDefaultPort;
};

void RemoteServices::note(const Object& apiservice) {
  const Target target(apiservice);
  const Remote remote{{std::string(get_string(target.spec, "group")), std::string(get_string(target.spec, "version"))},
                      small_int(target.spec, "groupPriorityMinimum"),
                      small_int(target.spec, "versionPriority"),
                      target.key()};
  if (remote.version.group.empty()) return;  // the core group is always served from here
  const std::string name(meta_name(apiservice));
  Remote& known = remotes_[name];
  if (known == remote) return;
  by_service_[known.service].erase(name);
  by_service_[remote.service].insert(name);
  known = remote;
  GroupsChange change;
  change.forwarded.push_back({remote.version, remote.group_priority, remote.version_priority, std::make_shared<Unavailable>()});
  Status published = groups_->change(std::move(change));
  if (!published.ok()) host_.logger().error("an APIService cannot be followed: " + published.message());
}

void RemoteServices::forget(const std::string& name) {
  const auto found = remotes_.find(name);
  if (found == remotes_.end()) return;
  GroupsChange change;
  change.withdrawn.push_back(found->second.version);
  by_service_[found->second.service].erase(name);
  remotes_.erase(found);
  std::erase_if(by_service_, [](const auto& row) { return row.second.empty(); });
  Status withdrawn = groups_->change(std::move(change));
  if (!withdrawn.ok()) host_.logger().error("a group version cannot be withdrawn: " + withdrawn.message());
}

// ---- services and endpoints

void RemoteServices::follow() {
  const GroupVersionResource services{"", "v1", "services"}, slices{"discovery.k8s.io", "v1", "endpointslices"},
      endpoints{"", "v1", "endpoints"};
  informers_ = std::make_unique<SharedInformerFactory>(host_);
  const auto follow_one = [this](const GroupVersionResource& resource, const IndexFunc& service) -> std::shared_ptr<SharedInformer> {
    if (host_.find_storage(resource) == nullptr) return nullptr;
    auto informer = informers_->for_resource(resource);
    Status indexed = informer->indexer().add_indexers({{std::string(kServiceIndex), service}});
    if (!indexed.ok()) host_.logger().error("the services of APIServices cannot be found: " + indexed.message());
    const auto note = [this, service](const ObjectRef& object) {
      for (const std::string& key : service(*object)) service_changed(key);
    };
    ResourceEventHandler handler;
    handler.on_add = [note](const ObjectRef& object, bool) { note(object); };
    handler.on_update = [note](const ObjectRef&, const ObjectRef& now) { note(now); };
    handler.on_delete = [note](const ObjectRef& last, bool) { note(last); };
    informer->add_event_handler(std::move(handler));
    return informer;
  };
  services_ = follow_one(services, service_of_endpoints);
  endpoints_ = follow_one(slices, service_of_slice);
  // A server without endpoint slices: what they are made from tells the same.
  sliced_ = endpoints_ != nullptr;
  if (!sliced_) endpoints_ = follow_one(endpoints, service_of_endpoints);
  informers_->start();
}

void RemoteServices::service_changed(const std::string& service) {
  const auto found = by_service_.find(service);
  if (found == by_service_.end()) return;
  for (const std::string& name : found->second) changed_(name);
}

Task<Result<Availability>> RemoteServices::availability(const Object& apiservice) {
  if (informers_ == nullptr) follow();
  const bool synced = co_await informers_->wait_for_cache_sync();
  if (!synced) co_return service_unavailable("the server is stopping");
  co_return judge(Target(apiservice));
}

Availability RemoteServices::judge(const Target& target) const {
  const ObjectRef found = services_ ? services_->indexer().get(target.key()) : nullptr;
  if (found == nullptr) return {"False", "ServiceNotFound", target.words() + " is not present"};
  const Object service = decode(*found, json::storage_ptr());
  const Object& spec = member_object(service, "spec");
  if (get_string(spec, "type") == "ClusterIP") {
    const auto ports = objects_of(spec, "ports");
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const Object* each) { return get_int(*each, "port") == target.port; });
    if (port == ports.end())
      return {"False", "ServicePortError", target.words() + " is not listening on port " + std::to_string(target.port)};
    if (auto problem = endpoints_problem(target, std::string(get_string(**port, "name")))) return std::move(*problem);
  }
  return {"False", "FailedDiscoveryCheck", discovery_problem(target, spec)};
}

// What keeps the service from being asked, as proxy.ResolveCluster and the discovery check say it; here something always does.
std::string RemoteServices::discovery_problem(const Target& target, const Object& service_spec) {
  const std::string_view type = get_string(service_spec, "type");
  std::string host(get_string(service_spec, "clusterIP"));
  if (type == "ExternalName") {
    host = get_string(service_spec, "externalName");
  } else if (type == "ClusterIP" && host == "None") {
    return R"(cannot route to service with ClusterIP "None")";
  } else if (type == "ClusterIP" || type == "LoadBalancer" || type == "NodePort") {
    const auto ports = objects_of(service_spec, "ports");
    const bool listens = std::any_of(ports.begin(), ports.end(), [&](const Object* each) { return get_int(*each, "port") == target.port; });
    if (!listens) return "no service port " + std::to_string(target.port) + " found for service " + quoted(target.name);
  } else {
    return "unsupported service type " + quoted(type);
  }
  return "failing or missing response from " + target.discovery_url(host) + ": this server does not forward requests to other API servers";
}

std::optional<Availability> RemoteServices::endpoints_problem(const Target& target, const std::string& port_name) const {
  std::vector<ObjectRef> parts;
  if (endpoints_ != nullptr) {
    auto found = endpoints_->indexer().by_index(kServiceIndex, target.key());
    if (found.ok()) parts = std::move(*found);
  }
  if (parts.empty()) return Availability{"False", "EndpointsNotFound", "cannot find endpointslices for " + target.words()};
  const bool active = std::any_of(parts.begin(), parts.end(), [&](const ObjectRef& part) {
    const Object object = decode(*part, json::storage_ptr());
    if (sliced_) return slice_has(object, port_name);
    const auto subsets = objects_of(object, "subsets");
    return std::any_of(subsets.begin(), subsets.end(), [&](const Object* subset) { return subset_has(*subset, port_name); });
  });
  if (active) return std::nullopt;
  return Availability{"False", "MissingEndpoints",
                      "endpointslices for " + target.words() + " have no addresses with port name " + quoted(port_name)};
}

}  // namespace backplane

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
  return ready && has_port_named(slice, port_name);
}

bool subset_has(const Object& subset, const std::string& port_name) {
  return !objects_of(subset, "addresses").empty() && has_port_named(subset, port_name);
}

Object parsed(const std::string& body) {
  boost::system::error_code error;
  Value tree = json::parse(body, error);
  return error || !tree.is_object() ? Object() : std::move(tree.get_object());
}

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
  // `service/NAME in "NAMESPACE"`, as messages name it.
  std::string words() const { return "service/" + name + " in " + quoted(ns); }
  std::string discovery_url() const {
    const GroupVersion version{std::string(get_string(spec, "group")), std::string(get_string(spec, "version"))};
    return "https://" + name + "." + ns + ".svc:" + std::to_string(port) + version.path();
  }

  const Object& spec;
  std::string ns, name;
  std::int64_t port = kDefaultPort;
};

void RemoteServices::note(const Object& apiservice) {
  const Object& spec = member_object(apiservice, "spec");
  const Remote remote{{std::string(get_string(spec, "group")), std::string(get_string(spec, "version"))},
                      small_int(spec, "groupPriorityMinimum"),
                      small_int(spec, "versionPriority")};
  if (remote.version.group.empty()) return;  // the core group is always served from here
  {
    const std::lock_guard lock(mutex_);
    Remote& known = remotes_[std::string(meta_name(apiservice))];
    if (known == remote) return;
    known = remote;
  }
  GroupsChange change;
  change.forwarded.push_back({remote.version, remote.group_priority, remote.version_priority, std::make_shared<Unavailable>()});
  Status published = groups_->change(std::move(change));
  if (!published.ok()) logger_.error("an APIService cannot be followed: " + published.message());
}

void RemoteServices::forget(const std::string& name) {
  GroupsChange change;
  {
    const std::lock_guard lock(mutex_);
    const auto found = remotes_.find(name);
    if (found == remotes_.end()) return;
    change.withdrawn.push_back(found->second.version);
    remotes_.erase(found);
  }
  Status withdrawn = groups_->change(std::move(change));
  if (!withdrawn.ok()) logger_.error("a group version cannot be withdrawn: " + withdrawn.message());
}

std::vector<std::string> RemoteServices::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, remote] : remotes_) out.push_back(name);
  return out;
}

Task<Availability> RemoteServices::availability(const Object& apiservice) {
  const Target target(apiservice);
  auto asking = client_->request("GET", "/api/v1/namespaces/" + target.ns + "/services/" + target.name, {}, {});
  const LoopbackClient::Response found = co_await std::move(asking);
  if (found.code == 404) co_return Availability{"False", "ServiceNotFound", target.words() + " is not present"};
  const Object service = parsed(found.body);
  if (found.code != 200) {
    co_return Availability{"Unknown", "ServiceAccessError",
                           target.words() + " cannot be checked due to: " + std::string(get_string(service, "message"))};
  }
  const Object& spec = member_object(service, "spec");
  if (get_string(spec, "type") == "ClusterIP") {
    const auto ports = objects_of(spec, "ports");
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const Object* each) { return get_int(*each, "port") == target.port; });
    if (port == ports.end()) {
      co_return Availability{"False", "ServicePortError", target.words() + " is not listening on port " + std::to_string(target.port)};
    }
    auto looking = endpoints_problem(target, std::string(get_string(**port, "name")));
    auto problem = co_await std::move(looking);
    if (problem) co_return std::move(*problem);
  }
  co_return Availability{
      "False", "FailedDiscoveryCheck",
      "failing or missing response from " + target.discovery_url() + ": this server does not forward requests to other API servers"};
}

Task<std::optional<Availability>> RemoteServices::endpoints_problem(const Target& target, std::string port_name) {
  auto asking = client_->request(
      "GET",
      "/apis/discovery.k8s.io/v1/namespaces/" + target.ns + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D" + target.name,
      {}, {});
  LoopbackClient::Response found = co_await std::move(asking);
  const bool sliced = found.code != 404;
  if (!sliced) {
    // A server without endpoint slices: what they are made from tells the same.
    auto again = client_->request("GET", "/api/v1/namespaces/" + target.ns + "/endpoints/" + target.name, {}, {});
    found = co_await std::move(again);
  }
  const Object answer = parsed(found.body);
  if (found.code != 200 && found.code != 404) {
    co_return Availability{"Unknown", "EndpointsAccessError",
                           target.words() + " cannot be checked due to: " + std::string(get_string(answer, "message"))};
  }
  const auto parts = objects_of(answer, sliced ? "items" : "subsets");
  if (found.code == 404 || (sliced && parts.empty()))
    co_return Availability{"False", "EndpointsNotFound", "cannot find endpointslices for " + target.words()};
  const bool active = std::any_of(parts.begin(), parts.end(),
                                  [&](const Object* part) { return sliced ? slice_has(*part, port_name) : subset_has(*part, port_name); });
  if (active) co_return std::nullopt;
  co_return Availability{"False", "MissingEndpoints",
                         "endpointslices for " + target.words() + " have no addresses with port name " + quoted(port_name)};
}

}  // namespace backplane

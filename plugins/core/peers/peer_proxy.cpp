#include "peers/peer_proxy.hpp"

#include "backplane/core/metrics.hpp"
#include "backplane/kit/server_identity.hpp"
#include "peers/peer_authorizer.hpp"
#include "peers/peer_handler.hpp"

namespace backplane::core {
namespace {

constexpr const char* kLeaseNamespace = "kube-system";
constexpr std::string_view kIdentityLabel = "apiserver.kubernetes.io/identity";
// A server's lease may exist before its record.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::seconds kLongestPause{30}, kTime{10};
// Requests only the local resources of the peer, if it supports that.
constexpr const char* kOwnDiscovery =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,"
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

ClientConfig peer_config(Host& host) {
  ClientConfig out = kit::front_proxy_client(host);
  // Peers are reached by addresses that their certificates need not name.
  out.tls_server_name = "kubernetes.default.svc";
  out.certificate_authority_file = host.flag("peer-ca-file").value_or("");
  return out;
}

HttpCall discovery_call(const char* path) {
  UserInfo server;
  server.name = server.uid = "system:apiserver";
  server.groups = {"system:authenticated"};
  HttpCall call;
  call.target = path;
  call.headers = identity_headers(server);
  call.headers.emplace_back("Accept", kOwnDiscovery);
  call.headers.emplace_back(kPeerProxiedHeader, "true");
  call.deadline = std::chrono::steady_clock::now() + kTime;
  return call;
}

// Returns an error if the peer is an older server, whose response has another format and lacks the needed members.
Task<Result<Object>> fetch(ApiClient& client, const char* path) {
  auto asking = client.request(discovery_call(path));
  auto answer = co_await std::move(asking);
  count_rerouted(answer.ok() ? 200 : answer.status().code(), GroupVersionResource());
  if (answer.ok() && get_string(*answer, "kind") != "APIGroupDiscoveryList") {
    co_return service_unavailable(std::string("error decoding discovery response of ") + path);
  }
  co_return answer;
}

void count_failure(std::string_view type) {
  static Metric& errors = Metric::counter("apiserver_peer_discovery_sync_errors_total",
                                          "Errors while the resources of peers were read, by the step that failed.", {"type"});
  errors.add({type});
}

std::string_view holder_of(const Object& lease) {
  const Object* spec = get_object(lease, "spec");
  return spec != nullptr ? get_string(*spec, "holderIdentity") : std::string_view();
}

// Returns the first item of a list; an empty object if there is none.
const Object& first_of(const Object& from, std::string_view list) {
  static const Object kNone;
  const Array* found = get_array(from, list);
  return found != nullptr && !found->empty() && found->front().is_object() ? found->front().get_object() : kNone;
}

std::string name_of(const Object& lease) { return std::string(ObjectMeta(const_cast<Object&>(lease)).name()); }

}  // namespace

PeerProxy::PeerProxy(Host& host, ServerRecords records)
    : host_(host),
      records_(std::move(records)),
      own_id_(kit::server_id(kit::host_name())),
      front_(host),
      clients_(host, peer_config(host)),
      catalog_(own_id_),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))),
      informers_(host),
      leases_(informers_.for_resource({"coordination.k8s.io", "v1", "leases"}, kLeaseNamespace)) {}

Status PeerProxy::install(Host& host, ServerRecords records) {
  const auto proxy = std::make_shared<PeerProxy>(host, std::move(records));
  Status status = host.register_peer_servers(proxy);
  if (status.ok()) status = host.register_authorizer(make_peer_authorizer());
  if (!status.ok()) return status;
  host.on_group_versions_changed([proxy](const GroupVersionsChange& change) { proxy->follow(change); });
  const auto add = [&](const char* name, Task<Status> (*hook)(std::shared_ptr<PeerProxy>, PostStartHookContext)) {
    if (!status.ok()) return;
    status = host.add_post_start_hook(name, [proxy, hook](PostStartHookContext context) { return hook(proxy, context); });
  };
  add("peer-discovery-workers", start_workers);
  add("local-discovery-cache-sync", start_nothing);
  add("mixed-version-proxy-handler", wait_synced);
  return status;
}

Task<Status> PeerProxy::start_workers(std::shared_ptr<PeerProxy> proxy, PostStartHookContext context) {
  proxy->start(context.stop);
  co_return Status();
}

// Does nothing: the local resources are read from the route table, so no copy of them has to be filled.
Task<Status> PeerProxy::start_nothing(std::shared_ptr<PeerProxy>, PostStartHookContext) { co_return Status(); }

void PeerProxy::start(Signal& stop) {
  const auto self = shared_from_this();
  stop.on_fire([queue = queue_] { queue->shut_down(); });
  ResourceEventHandler handler;
  handler.on_add = [self](const ObjectRef& lease, bool) { self->lease_changed(nullptr, lease); };
  handler.on_update = [self](const ObjectRef& old, const ObjectRef& now) { self->lease_changed(old, now); };
  handler.on_delete = [self](const ObjectRef& last, bool) { self->lease_changed(last, nullptr); };
  leases_->add_event_handler(std::move(handler));
  informers_.start();
  spawn_workers(host_, "peer-discovery", 1, queue_, [self](std::string lease) { return self->look(std::move(lease)); });
}

Task<Status> PeerProxy::wait_synced(std::shared_ptr<PeerProxy> proxy, PostStartHookContext) {
  auto waiting = proxy->leases_->wait_synced();
  const bool synced = co_await std::move(waiting);
  co_return synced ? Status() : service_unavailable("the server is stopping");
}

// ---- known peers

bool PeerProxy::is_peer(const Object& lease) const {
  const Object* metadata = get_object(lease, "metadata");
  const Object* labels = metadata != nullptr ? get_object(*metadata, "labels") : nullptr;
  if (labels == nullptr || get_string(*labels, kIdentityLabel) != kit::kServerKind) return false;
  return name_of(lease) != own_id_ && !holder_of(lease).empty();
}

// Ignores renewals of a lease. A restarted server has another holder identity, so its resources are read again.
void PeerProxy::lease_changed(const ObjectRef& before, const ObjectRef& now) {
  const auto read = [](const ObjectRef& lease) { return lease != nullptr ? decode(*lease, json::storage_ptr()) : Object(); };
  const Object old = read(before);
  const Object lease = read(now);
  if (before != nullptr && now != nullptr && holder_of(old) == holder_of(lease)) return;
  const Object& either = now != nullptr ? lease : old;
  if (is_peer(either)) queue_->add(name_of(either));
}

std::vector<std::string> PeerProxy::peers() const {
  std::vector<std::string> out;
  for (const ObjectRef& each : leases_->indexer().list()) {
    const Object lease = decode(*each, json::storage_ptr());
    if (is_peer(lease)) out.push_back(name_of(lease));
  }
  return out;
}

// ---- resources of the peers

Task<Status> PeerProxy::look(std::string lease) {
  const auto self = shared_from_this();
  const PeerCatalog::Peers before = catalog_.peers();
  PeerCatalog::Peers known;
  Status problem;
  const std::vector<std::string> ids = peers();
  for (const std::string& id : ids) {
    auto reading = read(id);
    auto peer = co_await std::move(reading);
    if (peer.ok()) {
      known.emplace(id, std::move(*peer));
      continue;
    }
    problem = std::move(peer).status();
    if (const auto old = before.find(id); old != before.end()) known.insert(*old);
  }
  catalog_.know(std::move(known));
  if (problem.ok() || queue_->num_requeues(lease) < kTries) co_return problem;
  host_.logger().error("reading the discovery of a peer failed, will be retried when its lease changes lease=" + lease + ": " +
                       problem.message());
  co_return Status();
}

Task<Result<PeerCatalog::PeerRef>> PeerProxy::read(std::string id) {
  auto resolving = address_of(id);
  const auto address = co_await std::move(resolving);
  if (!address.ok()) {
    count_failure("hostport_resolution");
    co_return service_unavailable("no address is known of the peer " + id + ": " + address.status().message());
  }
  auto http = client_at(*address);
  if (!http.ok()) co_return std::move(http).status();
  ApiClient client(std::move(*http));
  auto asking_core = fetch(client, "/api");
  const auto core = co_await std::move(asking_core);
  auto asking = fetch(client, "/apis");
  const auto groups = co_await std::move(asking);
  for (const auto* answer : {&core, &groups}) {
    if (answer->ok()) continue;
    count_failure("fetch_discovery");
    co_return answer->status();
  }
  co_return std::make_shared<const PeerCatalog::Peer>(peer_of(*core, *groups));
}

Task<Result<std::string>> PeerProxy::address_of(std::string id) const {
  auto reading = records_.get(std::move(id));
  const auto record = co_await std::move(reading);
  if (!record.ok()) co_return record.status();
  const Object& subset = first_of(*record, "subsets");
  kit::PeerAddress out;
  out.ip = get_string(first_of(subset, "addresses"), "ip");
  out.port = std::to_string(get_int(first_of(subset, "ports"), "port").value_or(0));
  if (!out.known()) co_return Status(Reason::kNotFound, "its record has no address");
  co_return out.text();
}

void PeerProxy::follow(const GroupVersionsChange& change) {
  catalog_.follow(change);
  if (change.gone.empty()) return;
  host_.executor().after(PeerCatalog::kGrace, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->catalog_.forget_removed();
  });
}

// ---- requests

std::shared_ptr<HttpHandler> PeerProxy::find(const RequestContext& context, const Exchange& exchange) {
  if (exchange.header(kPeerProxiedHeader) == "true") return nullptr;
  const RequestInfo& info = context.info;
  GroupVersionResource resource(info.api_group, info.api_version, info.resource);
  std::vector<std::string> servers = catalog_.servers_of(resource);
  if (servers.empty()) return nullptr;
  return std::make_shared<PeerHandler>(shared_from_this(), std::move(servers), std::move(resource));
}

}  // namespace backplane::core

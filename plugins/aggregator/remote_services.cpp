#include "remote_services.hpp"

#include <algorithm>

#include "autoregister.hpp"
#include "discovery_check.hpp"
#include "endpoints.hpp"
#include "remote_documents.hpp"

namespace backplane {
namespace {

// A server that does not respond is checked again after growing pauses up to kLongestPause; a server that responds, at that interval.
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::seconds kLongestPause{30};
// Pauses between readings of a server's documents.
constexpr std::chrono::milliseconds kFirstReading{500};
constexpr std::chrono::seconds kReadingInterval{60};
// Many, because each server that hangs blocks one worker for some seconds.
constexpr int kCheckers = 64;
constexpr int kReaders = 64;

int small_int(const Object& object, std::string_view path) {
  const Value* found = find_path(object, path);
  return found && found->is_int64() ? static_cast<int>(found->get_int64()) : 0;
}

RemoteDocumentsRef nothing_known() {
  static const RemoteDocumentsRef none = std::make_shared<RemoteDocuments>();
  return none;
}

bool is_available(const Object& apiservice) { return available_status(apiservice) == "True"; }

}  // namespace

const Object* service_of(const Object& apiservice) {
  const Value* service = find_path(apiservice, "spec.service");
  return service && service->is_object() ? &service->get_object() : nullptr;
}

RemoteServices::RemoteServices(Host& host, std::shared_ptr<DynamicGroups> groups, Report report)
    : host_(host),
      groups_(std::move(groups)),
      report_(std::move(report)),
      resolver_(make_service_resolver(host)),
      reject_redirects_(host.flag("aggregator-reject-forwarding-redirect").value_or("true") != "false"),
      front_(std::make_shared<kit::FrontProxy>(host)),
      checks_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))),
      readings_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstReading, kReadingInterval))) {}

void RemoteServices::stop() {
  checks_->shut_down();
  readings_->shut_down();
}

void RemoteServices::start_checks() {
  const auto self = shared_from_this();
  spawn_workers(host_, "apiservice-availability", kCheckers, checks_, [self](std::string name) { return self->check(std::move(name)); });
}

void RemoteServices::start_readings() {
  const auto self = shared_from_this();
  spawn_workers(host_, "apiservice-documents", kReaders, readings_, [self](std::string name) { return self->read(std::move(name)); });
}

void RemoteServices::note(const Object& apiservice) {
  const RemoteTarget target = remote_target(apiservice);
  if (target.version.group.empty()) return;  // this server always serves the core group
  if (informers_ == nullptr) follow();
  const std::string name(meta_name(apiservice));
  Remote& known = remotes_[name];
  const int group_priority = small_int(apiservice, "spec.groupPriorityMinimum");
  const int version_priority = small_int(apiservice, "spec.versionPriority");
  const bool moved = known.state == nullptr || known.target != target;
  if (moved) {
    by_service_[known.target.service_key()].erase(name);
    by_service_[target.service_key()].insert(name);
    known = Remote{target, 0, 0, std::make_shared<ProxyState>(), nothing_known(), std::nullopt, {}, std::nullopt};
    known.state->backend = std::make_shared<RemoteBackend>(host_, resolver_, target);
    known.state->reject_redirects = reject_redirects_;
    known.state->front = front_;
  }
  const bool was_available = known.state->available.exchange(is_available(apiservice));
  if (moved || known.group_priority != group_priority || known.version_priority != version_priority) {
    known.group_priority = group_priority;
    known.version_priority = version_priority;
    publish(known);
  }
  known.stored = availability_of(apiservice);
  // Compares only the status: if a server does not respond, each check may return another message.
  if (moved || !known.reported || known.reported->status != known.stored.status) checks_->add(name);
  if (moved || was_available != is_available(apiservice)) readings_->add(name);
}

void RemoteServices::publish(const Remote& remote) {
  GroupsChange change;
  change.forwarded.push_back({remote.target.version, remote.group_priority, remote.version_priority,
                              std::make_shared<ProxyHandler>(remote.state), remote.documents});
  Status published = groups_->change(std::move(change));
  if (!published.ok()) host_.logger().error("watching APIServices failed: " + published.message());
}

void RemoteServices::forget(const std::string& name) {
  const auto found = remotes_.find(name);
  if (found == remotes_.end()) return;
  GroupsChange change;
  change.withdrawn.push_back(found->second.target.version);
  by_service_[found->second.target.service_key()].erase(name);
  remotes_.erase(found);
  std::erase_if(by_service_, [](const auto& row) { return row.second.empty(); });
  checks_->forget(name);
  readings_->forget(name);
  Status withdrawn = groups_->change(std::move(change));
  if (!withdrawn.ok()) host_.logger().error("withdrawing a group version failed: " + withdrawn.message());
}

// ---- services and endpoints

void RemoteServices::follow() {
  const GroupVersionResource services{"", "v1", "services"}, slices{"discovery.k8s.io", "v1", "endpointslices"};
  informers_ = std::make_unique<SharedInformerFactory>(host_);
  const auto follow_one = [this](const GroupVersionResource& resource, const IndexFunc& service) -> std::shared_ptr<SharedInformer> {
    if (host_.find_storage(resource) == nullptr) return nullptr;
    auto informer = informers_->for_resource(resource);
    Status indexed = informer->indexer().add_indexers({{std::string(kServiceIndex), service}});
    if (!indexed.ok()) host_.logger().error("finding the services of APIServices failed: " + indexed.message());
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
  services_ = follow_one(services, [](const ObjectEntry& service) { return std::vector<std::string>{object_key(service)}; });
  slices_ = follow_one(slices, service_of_slice);
  informers_->start();
}

void RemoteServices::service_changed(const std::string& service) {
  const auto found = by_service_.find(service);
  if (found == by_service_.end()) return;
  for (const std::string& name : found->second) checks_->add(name);
}

// ---- availability

Task<Status> RemoteServices::check(std::string name) {
  const auto self = shared_from_this();
  auto looking = availability(name);
  const auto found = co_await std::move(looking);
  const auto known = remotes_.find(name);
  if (known == remotes_.end()) co_return Status();
  if (!found.ok()) co_return found.status();
  known->second.reported = *found;
  const bool available = found->status == "True";
  const bool turned = known->second.state->available.exchange(available) != available;
  count_availability(name, available);
  if (turned && !available) count_loss(name, found->reason);
  if (turned) readings_->add(name);
  auto reporting = report(name, *found);
  Status reported = co_await std::move(reporting);
  if (!reported.ok()) co_return reported;
  // No event reports that the server is available again, so it is checked periodically.
  if (found->reason == "FailedDiscoveryCheck") co_return service_unavailable(found->message);
  checks_->add_after(name, kLongestPause);
  co_return Status();
}

Task<Status> RemoteServices::report(std::string name, Availability found) {
  const Remote& now = remotes_.at(name);
  const bool overwritten = now.written && now.stored != *now.written;
  if (overwritten && now.stored != found) {
    const auto pause = pauses_.claim(name, found.status + "/" + found.reason);
    if (pause.count() > 0) {
      checks_->add_after(name, pause);
      co_return Status();
    }
  }
  auto reporting = report_(name, found);
  Status reported = co_await std::move(reporting);
  if (const auto known = remotes_.find(name); reported.ok() && known != remotes_.end()) {
    known->second.stored = found;
    known->second.written = std::move(found);
  }
  co_return reported;
}

Task<Result<Availability>> RemoteServices::availability(std::string name) {
  const auto self = shared_from_this();
  auto syncing = informers_->wait_for_cache_sync();
  const bool synced = co_await std::move(syncing);
  if (!synced) co_return service_unavailable("the server is stopping");
  const auto known = remotes_.find(name);
  if (known == remotes_.end()) co_return Status(Reason::kNotFound, "the APIService is gone");
  const auto backend = known->second.state->backend;
  if (auto problem = service_problem(backend->target())) co_return std::move(*problem);
  auto asking = discovery_problem(host_, backend);
  std::string problem = co_await std::move(asking);
  if (!problem.empty()) co_return Availability{"False", "FailedDiscoveryCheck", std::move(problem)};
  co_return Availability{"True", "Passed", "all checks passed"};
}

std::optional<Availability> RemoteServices::service_problem(const RemoteTarget& target) const {
  const ObjectRef found = services_ ? services_->indexer().get(target.service_key()) : nullptr;
  if (found == nullptr) return Availability{"False", "ServiceNotFound", target.words() + " is not present"};
  const Object service = decode(*found, json::storage_ptr());
  const Object* spec = get_object(service, "spec");
  if (spec == nullptr || get_string(*spec, "type") != "ClusterIP") return std::nullopt;
  const Object* port = port_of(*spec, target.port);
  if (port == nullptr)
    return Availability{"False", "ServicePortError", target.words() + " is not listening on port " + std::to_string(target.port)};
  return endpoints_problem(target, std::string(get_string(*port, "name")));
}

std::optional<Availability> RemoteServices::endpoints_problem(const RemoteTarget& target, const std::string& port_name) const {
  std::vector<ObjectRef> slices;
  if (slices_ != nullptr) {
    auto found = slices_->indexer().by_index(kServiceIndex, target.service_key());
    if (found.ok()) slices = std::move(*found);
  }
  if (slices.empty()) return Availability{"False", "EndpointsNotFound", "cannot find endpointslices for " + target.words()};
  const bool active = std::any_of(slices.begin(), slices.end(), [&](const ObjectRef& slice) {
    const Object object = decode(*slice, json::storage_ptr());
    return slice_has(object, port_name);
  });
  if (active) return std::nullopt;
  return Availability{"False", "MissingEndpoints",
                      "endpointslices for " + target.words() + " have no addresses with port name " + quoted(port_name)};
}

// ---- the server's documents

Task<Status> RemoteServices::read(std::string name) {
  const auto self = shared_from_this();
  const auto before = remotes_.find(name);
  if (before == remotes_.end()) co_return Status();
  const auto state = before->second.state;
  const RemoteDocumentsRef known = before->second.documents;
  auto reading = read_documents(state, known);
  RemoteReading got = co_await std::move(reading);
  const auto now = remotes_.find(name);
  if (now == remotes_.end() || now->second.state != state) co_return Status();
  const bool same = same_documents(*now->second.documents, *got.documents);
  now->second.documents = got.documents;
  if (!same) publish(now->second);
  if (!got.problem.ok() && state->available) co_return got.problem;
  readings_->add_after(name, kReadingInterval);
  co_return Status();
}

}  // namespace backplane

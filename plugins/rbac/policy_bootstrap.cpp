#include "policy_bootstrap.hpp"

#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/deferred_install.hpp"
#include "backplane/points/unreadable_object.hpp"

namespace backplane::rbac {
namespace {

using namespace kit;

// The store commits concurrent writes together; a higher limit would cost memory that is needed only once.
constexpr int kWorkers = 32;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::seconds kLongestPause{1};
constexpr std::chrono::seconds kBootstrapTimeout{30};
// Special keys; the keys of objects are numbers.
constexpr std::string_view kLists = "lists";
constexpr std::string_view kNamespace = "namespace/";

constexpr std::array<std::string_view, 4> kResources = {kClusterRoles, kClusterRoleBindings, kRoles, kRoleBindings};

std::string place_of(std::string_view resource, std::string_view ns, std::string_view name) {
  return std::string(resource).append("/").append(ns).append("/").append(name);
}

std::string place_of(const Delivered& delivered) { return place_of(delivered.resource, delivered.ns, delivered.name); }

std::string delivered_text(const Delivered& delivered) {
  return " resource=" + std::string(delivered.resource) + (delivered.ns.empty() ? "" : " namespace=" + delivered.ns) +
         " name=" + delivered.name;
}

}  // namespace

PolicyBootstrap::PolicyBootstrap(Host& host)
    : host_(host),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))) {}

Task<Status> PolicyBootstrap::start(PostStartHookContext context) {
  const auto self = shared_from_this();
  client_.emplace(host_.client());
  policy_.emplace([this](std::string_view gate) { return gate_is_on(host_, gate); });
  context.stop.on_fire([queue = queue_, completed = completed_] {
    queue->shut_down();
    completed.set(Status());
  });
  open(std::string(kLists));
  spawn_workers(host_, "rbac-bootstrap-roles", kWorkers, queue_, [self](std::string key) { return self->work(std::move(key)); });
  const auto stop_waiting = context.executor.after(kBootstrapTimeout, [self] { self->finish(internal_error(self->last_failure_)); });
  auto completed = completed_.future();
  Status status = co_await completed;
  stop_waiting();
  if (status.ok()) co_return Status();
  co_return internal_error("unable to initialize roles: " + status.message());
}

void PolicyBootstrap::open(std::string key) {
  if (open_.insert(key).second) queue_->add(key);
}

void PolicyBootstrap::finish(Status status) {
  queue_->shut_down();
  completed_.set(std::move(status));
}

Task<Status> PolicyBootstrap::work(std::string key) {
  Status status = co_await do_work(key);
  if (is_unreadable(status)) {
    host_.logger().error("updating a default role or binding failed: " + status.message());
    status = Status();
  }
  if (!status.ok()) {
    last_failure_ = status.message();
    co_return status;
  }
  open_.erase(key);
  if (open_.empty()) {
    policy_.reset();
    finish(Status());
  }
  co_return Status();
}

Task<Status> PolicyBootstrap::do_work(std::string key) {
  if (key == kLists) {
    for (const std::string_view resource : kResources) {
      Status status = co_await read_labelled(resource);
      if (!status.ok()) co_return status;
    }
    plan();
    co_return Status();
  }
  if (!key.starts_with(kNamespace)) co_return co_await ensure(std::stoul(key));
  const std::string ns = key.substr(kNamespace.size());
  Status status = co_await ensure_namespace(ns);
  if (!status.ok()) co_return status;
  for (std::size_t i = 0; i < policy_->size(); ++i) {
    if (policy_->ns(i) == ns && !labelled_.contains(place_of(policy_->at(i)))) open(std::to_string(i));
  }
  co_return Status();
}

Task<Status> PolicyBootstrap::read_labelled(std::string_view resource) {
  ListOptions options;
  options.labels = LabelSelector::parse(policy_->selector()).value();
  auto listed = co_await client_->list(resource_of(resource), "", std::move(options));
  if (!listed.ok()) co_return std::move(listed).status();
  each_mutable(*listed, "items",
               [&](Object& item) { labelled_[place_of(resource, meta_namespace(item), meta_name(item))] = std::move(item); });
  co_return Status();
}

void PolicyBootstrap::plan() {
  // Without a plugin that serves namespaces, nothing can be in them.
  const bool namespaces = host_.resource_enabled(GroupVersionResource("", "v1", "namespaces"));
  for (std::size_t i = 0; i < policy_->size(); ++i) {
    if (!namespaces && !policy_->ns(i).empty()) continue;
    const Delivered delivered = policy_->at(i);
    const auto have = labelled_.find(place_of(delivered));
    if (have == labelled_.end()) {
      open(delivered.ns.empty() ? std::to_string(i) : std::string(kNamespace) + delivered.ns);
    } else if (revision_of(delivered, have->second)) {
      open(std::to_string(i));
    }
  }
}

Task<Status> PolicyBootstrap::ensure_namespace(std::string ns) {
  const GroupVersionResource namespaces("", "v1", "namespaces");
  auto have = co_await client_->get(namespaces, "", ns);
  if (have.ok() || is_unreadable(have.status())) co_return Status();
  if (have.status().code() != 404) co_return std::move(have).status();
  Object object;
  object["metadata"] = Object{{"name", ns}};
  auto made = co_await client_->create(namespaces, "", std::move(object));
  const bool there = made.ok() || made.status().code() == 409;
  co_return there ? Status() : std::move(made).status();
}

Task<Status> PolicyBootstrap::ensure(std::size_t index) {
  Delivered delivered = policy_->at(index);
  // A listed object is used for one attempt only.
  if (auto listed = labelled_.extract(place_of(delivered))) co_return co_await update(delivered, listed.mapped());
  Status made = co_await create(delivered);
  if (made.code() != 409) co_return made;
  auto have = co_await client_->get(resource_of(delivered.resource), delivered.ns, delivered.name);
  if (!have.ok()) co_return std::move(have).status();
  co_return co_await update(delivered, *have);
}

Task<Status> PolicyBootstrap::create(Delivered delivered) {
  const GroupVersionResource resource = resource_of(delivered.resource);
  if (!delivered.successor_of.empty()) {
    auto predecessor = co_await client_->get(resource, delivered.ns, delivered.successor_of);
    if (predecessor.ok()) delivered.object = succeeding(delivered, *predecessor);
  }
  auto made = co_await client_->create(resource, delivered.ns, std::move(delivered.object));
  co_return made.ok() ? Status() : std::move(made).status();
}

std::optional<Revision> PolicyBootstrap::revision_of(const Delivered& delivered, const Object& current) {
  std::optional<Revision> revision = revised(delivered, current);
  if (!revision || !revision->forbidden) return revision;
  host_.logger().warn("a default role or binding with autoupdate=false lacks default rules" + delivered_text(delivered));
  return std::nullopt;
}

Task<Status> PolicyBootstrap::update(const Delivered& delivered, const Object& current) {
  std::optional<Revision> revision = revision_of(delivered, current);
  if (!revision) co_return Status();
  std::string uid(meta_text(current, "uid"));
  Status written = co_await write(delivered, std::move(*revision), std::move(uid));
  if (written.ok()) host_.logger().info("restored a default role or binding" + delivered_text(delivered));
  co_return written;
}

Task<Status> PolicyBootstrap::write(const Delivered& delivered, Revision revision, std::string uid) {
  const GroupVersionResource resource = resource_of(delivered.resource);
  if (!revision.replaces) {
    auto written = co_await client_->update(resource, delivered.ns, std::move(revision.object));
    co_return written.ok() ? Status() : std::move(written).status();
  }
  DeleteOptions options;
  options.preconditions.uid = std::move(uid);
  auto removed = co_await client_->remove(resource, delivered.ns, delivered.name, std::move(options));
  if (!removed.ok() && removed.status().code() != 404) co_return std::move(removed).status();
  auto made = co_await client_->create(resource, delivered.ns, std::move(revision.object));
  co_return made.ok() ? Status() : std::move(made).status();
}

}  // namespace backplane::rbac

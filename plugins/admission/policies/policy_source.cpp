#include "policies/policy_source.hpp"

#include <algorithm>
#include <iterator>

#include "backplane/kit/resource_resolver.hpp"
#include "manifests/manifest_source.hpp"

namespace backplane::admission::policies {
namespace {

// The only key of the queue: each change rebuilds the whole index.
constexpr const char* kSyncKey = "policies";

GroupVersionResource policies_of(PolicyType type) {
  return {"admissionregistration.k8s.io", "v1",
          type == PolicyType::kValidating ? "validatingadmissionpolicies" : "mutatingadmissionpolicies"};
}
GroupVersionResource bindings_of(PolicyType type) {
  GroupVersionResource out = policies_of(type);
  out.resource = type == PolicyType::kValidating ? "validatingadmissionpolicybindings" : "mutatingadmissionpolicybindings";
  return out;
}

// The kind as Go prints a GroupVersionKind.
std::string kind_text(const ParamKind& kind) {
  const auto version = kit::parse_group_version(kind.api_version);
  return (version.ok() ? version->group + "/" + version->version : kind.api_version) + ", Kind=" + kind.kind;
}

ResourceEventHandler notify(const std::shared_ptr<WorkQueue>& queue) {
  return {[queue](const ObjectRef&, bool) { queue->add(kSyncKey); }, [queue](const ObjectRef&, const ObjectRef&) { queue->add(kSyncKey); },
          [queue](const ObjectRef&, bool) { queue->add(kSyncKey); }};
}

// Removes the entries of deleted objects.
template <class Map>
void keep_present(Map& map, const Lister& lister) {
  std::erase_if(map, [&](const auto& each) { return lister.find({}, each.first) == nullptr; });
}

}  // namespace

PolicySource::PolicySource(Services& services, PolicyType type)
    : host_(services.host()),
      type_(type),
      policies_(services.lister(policies_of(type))),
      bindings_(services.lister(bindings_of(type))),
      namespaces_(services.lister({"", "v1", "namespaces"})),
      params_(services.host()),
      queue_(std::make_shared<WorkQueue>(services.host().executor(),
                                         item_exponential_failure_rate_limiter(std::chrono::milliseconds(100), std::chrono::seconds(1)))) {}

Status PolicySource::start(const std::string& directory) {
  if (Status loaded = start_manifests(directory); !loaded.ok()) return loaded;
  policies_.informer()->add_event_handler(notify(queue_));
  bindings_.informer()->add_event_handler(notify(queue_));
  host_.on_group_versions_changed([queue = queue_](const GroupVersionsChange&) { queue->add(kSyncKey); });
  host_.stop_signal().on_fire([queue = queue_] { queue->shut_down(); });
  spawn_workers(host_, "admission-policies", 1, queue_, [self = shared_from_this()](const std::string&) { return sync_source(self); });
  host_.spawn("admission-policies-begin", begin(shared_from_this()));
  return {};
}

Status PolicySource::start_manifests(const std::string& directory) {
  if (directory.empty()) return {};
  const bool validating = type_ == PolicyType::kValidating;
  auto source = std::make_shared<manifests::ManifestSource>(
      host_, validating ? manifests::kValidatingPolicies : manifests::kMutatingPolicies,
      validating ? "ValidatingAdmissionPolicy" : "MutatingAdmissionPolicy", directory,
      [self = shared_from_this()](const manifests::ManifestObjects& objects) { self->take_manifests(objects); });
  const Status loaded = source->load();
  if (!loaded.ok()) return bad_request("failed to load static policy manifests from " + quoted(directory) + ": " + loaded.message());
  host_.spawn("admission-policy-manifests", manifests::ManifestSource::watch(std::move(source)));
  return {};
}

// Compiles all policies of manifests at each change, because they are few and change rarely.
void PolicySource::take_manifests(const manifests::ManifestObjects& objects) {
  std::vector<PolicyHook> hooks;
  for (const Object& policy : objects.main) {
    PolicyHook& hook = hooks.emplace_back();
    hook.policy = compile_policy(policy, type_);
    hook.is_static = true;
    for (const Object& object : objects.bindings) {
      auto binding = read_binding(object);
      if (binding->policy == hook.policy->name) hook.bindings.push_back(std::move(binding));
    }
  }
  static_hooks_ = std::move(hooks);
  queue_->add(kSyncKey);
}

Task<void> PolicySource::begin(std::shared_ptr<PolicySource> source) {
  bool synced = co_await source->policies_.wait_synced();
  if (synced) synced = co_await source->bindings_.wait_synced();
  if (synced) source->queue_->add(kSyncKey);
}

Task<Status> PolicySource::sync_source(std::shared_ptr<PolicySource> source) {
  auto syncing = source->sync();
  Status synced = co_await std::move(syncing);
  co_return synced;
}

Task<Status> PolicySource::sync() {
  if (!policies_.has_synced() || !bindings_.has_synced()) co_return Status();
  Status failed;
  auto making = make_hooks(failed);
  auto made = co_await std::move(making);
  std::vector<PolicyHook> hooks = static_hooks_;
  std::move(made.begin(), made.end(), std::back_inserter(hooks));
  std::vector<ParamKind> kinds;
  for (const PolicyHook& hook : hooks) {
    if (hook.policy->param_kind) kinds.push_back(*hook.policy->param_kind);
  }
  index_.set(std::make_shared<const PolicyIndex>(std::move(hooks), host_.equivalent_resources()));
  params_.keep_only(kinds);
  keep_present(compiled_, policies_);
  keep_present(read_, bindings_);
  co_return failed;
}

PolicySource::Bindings PolicySource::read_bindings() {
  Bindings out;
  for (const ObjectRef& object : bindings_.all()) {
    auto& [from, binding] = read_[std::string(object->name())];
    if (from != object) {
      from = object;
      binding = read_binding(decode(*object, {}));
    }
    out[binding->policy].push_back(binding);
  }
  for (auto& [policy, bindings] : out) {
    std::sort(bindings.begin(), bindings.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  }
  return out;
}

std::shared_ptr<const Policy> PolicySource::compiled(const ObjectRef& policy) {
  auto& [from, made] = compiled_[std::string(policy->name())];
  if (from != policy) {
    from = policy;
    made = compile_policy(decode(*policy, {}), type_);
  }
  return made;
}

Task<std::vector<PolicyHook>> PolicySource::make_hooks(Status& failed) {
  std::vector<PolicyHook> out;
  Bindings all = read_bindings();
  for (auto& [name, bindings] : all) {
    const ObjectRef policy = policies_.find({}, name);
    if (policy == nullptr) continue;  // the policy may be created later
    PolicyHook hook{compiled(policy), std::move(bindings)};
    if (hook.policy->param_kind) {
      auto finding = params_.store_of(*hook.policy->param_kind);
      auto store = co_await std::move(finding);
      if (store.ok()) {
        hook.params = std::move(*store);
      } else {
        hook.problem = "failed to find resource referenced by paramKind: '" + kind_text(*hook.policy->param_kind) + "'";
        failed = Status(Reason::kServiceUnavailable, hook.problem);
      }
    }
    out.push_back(std::move(hook));
  }
  co_return out;
}

}  // namespace backplane::admission::policies

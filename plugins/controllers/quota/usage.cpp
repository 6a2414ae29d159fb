#include "quota/usage.hpp"

#include <algorithm>

#include "frame/objects.hpp"
#include "quota/claim_owner.hpp"
#include "quota/stored_list.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kCountPrefix = "count/";
constexpr std::string_view kClaims = "resourceclaims.resource.k8s.io";

// Resources with a specific evaluator, in the version that it reads.
const std::vector<GroupVersionResource>& evaluated_resources() {
  static const std::vector<GroupVersionResource> out = {{"", "v1", "pods"},
                                                        {"", "v1", "services"},
                                                        {"", "v1", "persistentvolumeclaims"},
                                                        {"resource.k8s.io", "v1", "resourceclaims"},
                                                        {"", "v1", "configmaps"},
                                                        {"", "v1", "resourcequotas"},
                                                        {"", "v1", "replicationcontrollers"},
                                                        {"", "v1", "secrets"}};
  return out;
}

bool has_gate(const Host& host, const std::string& name) {
  return host.flag("feature-gates." + name) == std::optional<std::string>("true");
}

quota::Gates read_quota_gates(const Host& host) {
  quota::Gates out;
  out.pod_level_resources = has_gate(host, "PodLevelResources");
  out.extended_resources_by_claim = has_gate(host, "DRAExtendedResource");
  return out;
}

// Reads device classes from an informer. If the resource is not served, there are no device classes.
class CachedDeviceClasses final : public quota::DeviceClasses {
 public:
  explicit CachedDeviceClasses(const Context& context) {
    const GroupVersionResource resource{"resource.k8s.io", "v1", "deviceclasses"};
    if (context.host.resource_enabled(resource)) informer_ = context.term->informer(resource);
  }
  std::string extended_resource_of(std::string_view device_class) const override {
    const auto known = informer_ ? cached(*informer_, device_class) : std::nullopt;
    return known ? std::string(get_string_path(*known, "spec.extendedResourceName")) : std::string();
  }
  bool provides(std::string_view extended_resource) const override {
    constexpr std::string_view kImplicit = "deviceclass.resource.kubernetes.io/";
    if (!informer_) return false;
    if (extended_resource.starts_with(kImplicit)) return informer_->indexer().get(extended_resource.substr(kImplicit.size())) != nullptr;
    const auto all = informer_->indexer().list();
    return std::any_of(all.begin(), all.end(),
                       [&](const ObjectRef& entry) { return extended_resource_of(entry->name()) == extended_resource; });
  }

 private:
  std::shared_ptr<SharedInformer> informer_;
};

GroupResource group_resource_of(std::string_view count_name) {
  const std::string_view text = count_name.substr(kCountPrefix.size());
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

// Returns the version whose objects are counted; an empty resource: no version is served.
GroupVersionResource served_version(const GroupResource& wanted, const ServedTypes* types) {
  for (const GroupVersionResource& known : evaluated_resources()) {
    if (known.group == wanted.group && known.resource == wanted.resource) return known;
  }
  if (types == nullptr) return {};
  const auto found = types->collectable.find(wanted);
  return found == types->collectable.end() ? GroupVersionResource() : found->second.versions.front().resource;
}

bool matches_scopes(const quota::Evaluator& evaluator, const quota::ScopeSelectors& scopes, const Object& object) {
  return std::all_of(scopes.begin(), scopes.end(), [&](const quota::ScopeSelector& scope) {
    auto matched = evaluator.matches_scope(scope, object);
    return matched.ok() && *matched;
  });
}

}  // namespace

QuotaUsage::QuotaUsage(const Context& context)
    : context_(context),
      gates_(read_quota_gates(context.host)),
      classes_(std::make_unique<CachedDeviceClasses>(context)),
      evaluators_(gates_, *classes_) {}

std::vector<CountedResource> QuotaUsage::counted(const admission::ResourceList& hard) const {
  const admission::ResourceNames names = admission::names_of(hard);
  std::vector<GroupResource> resources;
  for (const GroupVersionResource& each : evaluated_resources()) resources.push_back({each.group, each.resource});
  for (const std::string& name : names) {
    if (!name.starts_with(kCountPrefix)) continue;
    const GroupResource resource = group_resource_of(name);
    const bool known = std::find(resources.begin(), resources.end(), resource) != resources.end();
    if (!known && quota::Evaluators::counts(resource)) resources.push_back(resource);
  }
  std::vector<CountedResource> out;
  for (const GroupResource& resource : resources) {
    auto evaluator = evaluators_.of(resource);
    admission::ResourceNames matched = evaluator->matching_resources(names);
    if (!matched.empty()) out.push_back({resource, std::move(evaluator), std::move(matched)});
  }
  return out;
}

Task<QuotaUsage::Calculated> QuotaUsage::calculate(std::string ns, quota::ScopeSelectors scopes, admission::ResourceList hard,
                                                   const ServedTypes* types) const {
  Calculated out;
  for (const CountedResource& each : counted(hard)) {
    const GroupVersionResource from = served_version(each.resource, types);
    // The usage of resources that are not served cannot be calculated, so the former value is retained.
    if (from.resource.empty()) continue;
    auto summing = sum(ns, scopes, each, from);
    auto used = co_await std::move(summing);
    if (used.ok()) {
      out.used = admission::add(out.used, admission::mask(*used, each.names));
    } else {
      out.error = std::move(used).status();
    }
  }
  co_return out;
}

Task<Result<admission::ResourceList>> QuotaUsage::sum(std::string ns, quota::ScopeSelectors scopes, CountedResource counted,
                                                      GroupVersionResource from) const {
  admission::ResourceList out;
  for (const std::string& name : counted.names) out.emplace(name, "0");
  auto listing = quota::stored_list(context_.host, from, ns, "", /*transient_objects=*/true);
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return std::move(listed).status();
  const bool claims = counted.resource.to_string() == kClaims;
  for (const ObjectRef& entry : *listed) {
    const Object object = tree_of(*entry);
    if (!matches_scopes(*counted.evaluator, scopes, object)) continue;
    quota::Subject subject{&object, {}};
    if (claims && quota::is_extended_claim(object)) {
      auto owning = quota::owner_usage(context_.host, gates_, object, ns);
      subject.owner_usage = co_await std::move(owning);
    }
    out = admission::add(out, counted.evaluator->usage(subject));
  }
  co_return out;
}

}  // namespace backplane::controllers

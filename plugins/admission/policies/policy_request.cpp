#include "policies/policy_request.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/roles.hpp"
#include "common/label_selectors.hpp"
#include "common/request_fields.hpp"

namespace backplane::admission::policies {
namespace {

constexpr std::chrono::seconds kParamTimeout{1};
constexpr std::chrono::milliseconds kPollInterval{10};

}  // namespace

// ---- matching

bool PolicyRequest::namespace_matches(const LabelSelector& selector, std::string& problem) {
  const bool namespaces = attributes_.resource.resource == "namespaces";
  if (selector.empty() || (attributes_.ns.empty() && !namespaces)) return true;
  const bool written = attributes_.operation == AdmissionOperation::kCreate || attributes_.operation == AdmissionOperation::kUpdate;
  if (namespaces && attributes_.subresource.empty() && written) return selects_labels(selector, labels_in(attributes_.object));
  auto found = find_namespace();
  if (found.ok()) return *found != nullptr && selector.matches((*found)->labels());
  problem = found.status().message();
  return true;
}

PolicyRequest::Matched PolicyRequest::match(const ResolvedMatch& match) {
  if (match.match == nullptr) return {true, nullptr, {}};
  const MatchResources& wanted = *match.match;
  const ResolvedRule* rule = find_rule(match.rules, attributes_);
  if (!wanted.rules.empty() && rule == nullptr) return {};
  if (find_rule(match.excluded, attributes_) != nullptr) return {};
  if (!wanted.problem.empty()) return {false, nullptr, wanted.problem};
  if (!selects_object(wanted.objects, attributes_, attributes_.object)) return {};
  std::string problem;
  if (!namespace_matches(wanted.namespaces, problem)) return {};
  if (!problem.empty()) return {false, nullptr, std::move(problem)};
  const ServedAs* as = rule == nullptr ? nullptr : rule->as;
  if (as == nullptr || !as->kind.kind.empty()) return {true, as, {}};
  const GroupVersionResource& resource = as->resource;
  return {false, nullptr,
          "unable to convert to " + resource.group + "/" + resource.version + ", Resource=" + resource.resource + ": unknown kind"};
}

// ---- values

Result<ObjectRef> PolicyRequest::find_namespace() {
  if (ObjectRef found = source_.namespaces().find({}, attributes_.ns)) return found;
  if (stored_namespace_) return *stored_namespace_;
  waits_for_namespace_ = true;
  return ObjectRef();
}

Result<ObjectRef> PolicyRequest::namespace_object() {
  const bool is_core_namespace = attributes_.kind == GroupVersionKind{"", "v1", "Namespace"};
  if (is_core_namespace || attributes_.ns.empty()) return ObjectRef();
  return find_namespace();
}

const Object* PolicyRequest::namespace_tree() {
  if (namespace_tree_ == nullptr) {
    const auto found = namespace_object();
    if (!found.ok() || *found == nullptr) return nullptr;
    namespace_tree_ = source_.namespace_trees().tree_of(*found);
  }
  return &namespace_tree_->tree;
}

Result<NamedObjects> PolicyRequest::versioned(const ServedAs* as) {
  const auto* objects = versions_.find(as == nullptr ? attributes_.kind : as->kind);
  if (objects == nullptr) {
    waits_for_version_ = as;
    return NamedObjects();
  }
  if (!objects->ok()) return objects->status();
  return NamedObjects{**objects, as};
}

CollectedParams PolicyRequest::params(const Policy& policy, const Binding& binding, ParamStore* store) {
  const bool timed_out = std::find(timed_out_.begin(), timed_out_.end(), store) != timed_out_.end();
  CollectedParams out = collect_params(policy, binding, store, attributes_.ns, timed_out);
  if (out.unsynced != nullptr) waits_for_params_ = out.unsynced;
  return out;
}

const Value& PolicyRequest::request_value(const ServedAs* resource, const ServedAs* kind) {
  for (const RequestTree& each : requests_) {
    if (each.resource == resource && each.kind == kind) return *each.value;
  }
  const GroupVersionResource& as_resource = resource == nullptr ? attributes_.resource : resource->resource;
  const GroupVersionKind& as_kind = kind == nullptr ? attributes_.kind : kind->kind;
  requests_.push_back({resource, kind, std::make_unique<Value>(request_fields(attributes_, as_resource, as_kind, {}))});
  return *requests_.back().value;
}

AccessChecks& PolicyRequest::access() {
  if (access_ == nullptr) {
    access_ = std::make_shared<AccessChecks>(source_.host(), attributes_.user);
    request_resource_ = std::make_shared<cel::RequestResource>(access_, attributes_.resource.group, attributes_.resource.resource,
                                                               attributes_.subresource, attributes_.ns, attributes_.name);
  }
  return *access_;
}

PolicyRequest::Bindings PolicyRequest::bindings(const Policy& policy, const NamedObjects& objects, const ObjectTreeRef& params,
                                                Audience audience) {
  Bindings out;
  const auto add = [&](cel::ScopeBinding binding) { out.list[out.size++] = binding; };
  const bool conditions = audience == Audience::kConditions;
  add({.name = "object", .object = objects.object});
  add({.name = "oldObject", .object = objects.old_object});
  // In conditions, `request` has the resource of the request; in other expressions, it has the resource that the rule names.
  if (policy.uses.request) add({.name = "request", .tree = &request_value(conditions ? nullptr : objects.as, objects.as)});
  add({.name = "params", .object = params == nullptr ? nullptr : &params->tree});
  add({.name = "namespaceObject", .object = policy.uses.namespace_object && !conditions ? namespace_tree() : nullptr});
  if (policy.uses.authorizer && audience != Audience::kMessages) {
    add({.name = "authorizer", .host = &access()});
    add({.name = "authorizer.requestResource", .host = request_resource_.get()});
  }
  return out;
}

// ---- waiting

Task<void> PolicyRequest::wait() {
  if (waits_for_namespace_) {
    auto reading = read_namespace();
    co_await std::move(reading);
  }
  if (waits_for_params_ != nullptr) {
    auto waiting = await_params();
    co_await std::move(waiting);
  }
  if (waits_for_version_ != nullptr) {
    auto converting = convert();
    co_await std::move(converting);
  }
  if (waits_for_access()) {
    auto asking = access_->wait();
    co_await std::move(asking);
  }
}

// Reads the namespace from the store, because the cache may not have a new namespace yet.
Task<void> PolicyRequest::read_namespace() {
  waits_for_namespace_ = false;
  const std::string name = attributes_.ns;
  const auto storage = source_.host().find_storage({"", "v1", "namespaces"});
  auto* getter = role_of<Getter>(storage);
  if (getter == nullptr) {
    stored_namespace_.emplace(not_found("", "namespaces", name));
    co_return;
  }
  RequestContext context;
  auto reading = getter->get(context, name, {});
  auto found = co_await std::move(reading);
  stored_namespace_.emplace(std::move(found));
}

Task<void> PolicyRequest::convert() {
  auto converting = versions_.in(waits_for_version_->kind);
  waits_for_version_ = nullptr;
  (void)co_await std::move(converting);  // versioned() finds the result
}

Task<void> PolicyRequest::await_params() {
  ParamStore* const store = waits_for_params_;
  waits_for_params_ = nullptr;
  const auto until = std::chrono::steady_clock::now() + kParamTimeout;
  while (!store->has_synced() && std::chrono::steady_clock::now() < until) co_await sleep_for(kPollInterval);
  if (!store->has_synced()) timed_out_.push_back(store);
}

}  // namespace backplane::admission::policies

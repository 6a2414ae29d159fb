#include "quota/evaluation.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/names.hpp"

namespace backplane::admission::quota {
namespace {

Status plain_error(std::string text) { return Status(500, Reason::kNone, std::move(text)); }

// The selectors that the object matches.
Result<ScopeSelectors> matching_scopes(const Evaluator& evaluator, const Object& object, const ScopeSelectors& selectors) {
  ScopeSelectors out;
  if (!evaluator.has_scopes()) return out;
  for (const ScopeSelector& selector : selectors) {
    auto matched = evaluator.matches_scope(selector, object);
    if (!matched.ok()) return plain_error("error on matching scope " + printed_scope(selector) + ": " + matched.status().message());
    if (*matched) out.push_back(selector);
  }
  return out;
}

bool has_usage_of(const Quota& quota, const ResourceNames& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return quota.used.contains(name); });
}

std::string uncovered_text(const ScopeSelectors& scopes) {
  std::string out;
  for (const ScopeSelector& scope : scopes) out += (out.empty() ? "" : " ") + printed_scope(scope);
  return "insufficient quota to match these scopes: [" + out + "]";
}

// Evaluates one write, step by step.
class LimitDecision {
 public:
  LimitDecision(const Evaluation& write, const std::vector<Quota>& quotas)
      : write_(write), quotas_(quotas), object_(*write.object.object), usage_(write.evaluator.usage(write.object)) {}

  Result<std::vector<Charge>> charges();

 private:
  Status forbidden(const std::string& why) const { return admission_forbidden(write_.attributes, why); }
  Result<bool> matches(const Quota& quota, const Object& object) const;
  // Errors: the scopes of the configuration cannot be evaluated for the object; the write is then allowed.
  Status find_limits();
  Status find_matching();
  Status add_matching(const Quota& quota);
  Status find_usage_before();
  Result<ResourceList> added_to(const Quota& quota) const;
  Status check_covered() const;

  const Evaluation& write_;
  const std::vector<Quota>& quotas_;
  const Object& object_;
  ResourceList usage_;
  std::optional<ResourceList> usage_change_;  // set for an update of an object that existed
  std::vector<const Quota*> matching_;
  // The consumption that the configuration limits, and the part of it that quotas cover.
  ScopeSelectors limited_scopes_, covered_scopes_;
  std::set<std::string> limited_names_, covered_names_;
};

Result<bool> LimitDecision::matches(const Quota& quota, const Object& object) const {
  if (write_.evaluator.matching_resources(names_of(quota.hard)).empty()) return false;
  if (quota.scopes.empty()) return true;
  if (!write_.evaluator.has_scopes()) return false;
  for (const ScopeSelector& selector : quota.scopes) {
    auto matched = write_.evaluator.matches_scope(selector, object);
    if (!matched.ok() || !*matched) return matched;
  }
  return true;
}

Status LimitDecision::find_limits() {
  const GroupResource resource{write_.attributes.resource.group, write_.attributes.resource.resource};
  for (const LimitedResource& limit : write_.limits) {
    auto scopes = matching_scopes(write_.evaluator, object_, limit.match_scopes);
    if (!scopes.ok()) return std::move(scopes.status());
    limited_scopes_.insert(limited_scopes_.end(), scopes->begin(), scopes->end());
    if (limit.resource != resource) continue;
    for (const auto& [name, amount] : usage_) {
      const bool named = std::any_of(limit.match_contains.begin(), limit.match_contains.end(),
                                     [&name = name](const std::string& part) { return name.find(part) != std::string::npos; });
      if (named && compare_quantities(amount, "0") > 0) limited_names_.insert(name);
    }
  }
  return {};
}

Status LimitDecision::find_matching() {
  for (const Quota& quota : quotas_) {
    auto scopes = matching_scopes(write_.evaluator, object_, quota.scopes);
    if (!scopes.ok()) return plain_error("error matching scopes of quota " + quota.name + ", err: " + scopes.status().message());
    covered_scopes_.insert(covered_scopes_.end(), scopes->begin(), scopes->end());
    auto matched = matches(quota, object_);
    if (!matched.ok()) return std::move(matched.status());
    Status added = *matched ? add_matching(quota) : Status();
    if (!added.ok()) return added;
  }
  return {};
}

Status LimitDecision::add_matching(const Quota& quota) {
  const ResourceNames names = write_.evaluator.matching_resources(names_of(quota.hard));
  if (const auto missing = write_.evaluator.missing(names, object_)) {
    return forbidden("failed quota: " + quota.name + ": " + *missing);
  }
  if (!has_usage_of(quota, names)) return forbidden("status unknown for quota: " + quota.name + ", resources: " + print(names));
  matching_.push_back(&quota);
  covered_names_.insert(names.begin(), names.end());
  return {};
}

Status LimitDecision::find_usage_before() {
  if (write_.attributes.operation != AdmissionOperation::kUpdate) return {};
  const Object* old = write_.old_object.object;
  if (old == nullptr) return forbidden("unable to get previous usage since prior version of object was not found");
  if (meta_text(*old, "resourceVersion").empty()) return {};
  usage_change_ = subtract_down_to_zero(usage_, write_.evaluator.usage(write_.old_object));
  return {};
}

// An object that the quota has not counted so far counts in full.
Result<ResourceList> LimitDecision::added_to(const Quota& quota) const {
  if (!usage_change_) return usage_;
  auto counted = matches(quota, *write_.old_object.object);
  if (!counted.ok()) return std::move(counted.status());
  if (*counted) return *usage_change_;
  return usage_;
}

Status LimitDecision::check_covered() const {
  std::vector<std::string> names;
  std::set_difference(limited_names_.begin(), limited_names_.end(), covered_names_.begin(), covered_names_.end(),
                      std::back_inserter(names));
  if (!names.empty()) return forbidden("insufficient quota to consume: " + print(names));
  ScopeSelectors scopes;
  for (const ScopeSelector& limited : limited_scopes_) {
    const bool covered =
        std::any_of(covered_scopes_.begin(), covered_scopes_.end(), [&](const ScopeSelector& each) { return each.scope == limited.scope; });
    if (!covered) scopes.push_back(limited);
  }
  return scopes.empty() ? Status() : plain_error(uncovered_text(scopes));
}

Result<std::vector<Charge>> LimitDecision::charges() {
  std::vector<Charge> out;
  if (!find_limits().ok()) return out;
  Status status = find_matching();
  if (!status.ok()) return status;
  if (const ResourceNames negative = negative_names(usage_); !negative.empty()) {
    return forbidden("quota usage is negative for resource(s): " + print(negative));
  }
  status = find_usage_before();
  if (!status.ok()) return status;
  bool changes = false;
  for (const Quota* quota : matching_) {
    auto added = added_to(*quota);
    if (!added.ok()) return std::move(added.status());
    remove_zeros(*added);
    changes = changes || !added->empty();
    ResourceList requested = mask(*added, names_of(quota->hard));
    if (!requested.empty()) out.push_back({*quota, std::move(requested), write_.attributes.subresource != "status"});
  }
  if (matching_.empty()) {
    ResourceList added = usage_change_.value_or(usage_);
    remove_zeros(added);
    changes = !added.empty();
  }
  if (!changes) return std::vector<Charge>();
  status = check_covered();
  if (!status.ok()) return status;
  return out;
}

}  // namespace

Quota read_quota(ObjectRef stored) {
  const Object object = decode(*stored, json::storage_ptr());
  const Object& status = object_or_empty(object, "status");
  Quota out;
  out.name = stored->name();
  out.scopes = scopes_of_quota(object);
  out.hard = read_resources(status, "hard");
  out.used = read_resources(status, "used");
  out.stored = std::move(stored);
  return out;
}

bool same_rules(const Quota& a, const Quota& b) { return a.scopes == b.scopes && a.hard == b.hard && names_of(a.used) == names_of(b.used); }

Result<std::vector<Charge>> charges_of(const Evaluation& write, const std::vector<Quota>& quotas) {
  return LimitDecision(write, quotas).charges();
}

ChargedUsage usage_with(const Charge& charge, const Quota& quota) {
  ChargedUsage out{add(quota.used, charge.requested), {}};
  if (!charge.limited) return out;
  const ResourceNames exceeded = exceeded_names(mask(out.used, names_of(charge.requested)), quota.hard);
  if (exceeded.empty()) return out;
  out.refusal = "exceeded quota: " + quota.name + ", requested: " + print(mask(charge.requested, exceeded)) +
                ", used: " + print(mask(quota.used, exceeded)) + ", limited: " + print(mask(quota.hard, exceeded));
  return out;
}

Status check_room(const AdmissionAttributes& attributes, const std::vector<Charge>& charges) {
  for (const Charge& charge : charges) {
    const ChargedUsage usage = usage_with(charge, charge.quota);
    if (!usage.refusal.empty()) return admission_forbidden(attributes, usage.refusal);
  }
  return {};
}

}  // namespace backplane::admission::quota

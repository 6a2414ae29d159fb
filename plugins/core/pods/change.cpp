#include "pods/change.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/scheme.hpp"
#include "backplane/types/struct_difference.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::string_view kMayChange =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)";
const Schema& type_of(std::string_view name) { return *core_schemas()->find("io.k8s.api.core.v1." + std::string(name)); }

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

// Returns false if the checks that follow must be skipped.
bool check_containers(const Object& spec, const Object& before, std::string_view list, FieldErrors& errors) {
  if (count_of(spec, list) != count_of(before, list)) {
    errors.forbidden(at("spec", list), "pod updates may not add or remove containers");
    return false;
  }
  each(spec, list, [&](const Object& container, std::size_t i) {
    const std::string item = at(at("spec", list), i);
    if (get_string(container, "image").empty()) errors.required(at(item, "image"));
    workload::validate_image_ends(container, item, errors);
  });
  return true;
}

// Returns false if the checks that follow must be skipped.
bool check_deadline(const Object& spec, const Object& before, FieldErrors& errors) {
  const auto now = get_int(spec, "activeDeadlineSeconds"), old = get_int(before, "activeDeadlineSeconds");
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (now && (*now < 0 || *now > kMost)) {
    errors.invalid("spec.activeDeadlineSeconds", static_cast<long long>(*now), "must be between 0 and 2147483647, inclusive");
    return false;
  }
  if (now && old && *old < *now) {
    errors.invalid("spec.activeDeadlineSeconds", static_cast<long long>(*now), "must be less than or equal to previous value");
    return false;
  }
  if (!now && old) errors.invalid_raw("spec.activeDeadlineSeconds", "null", "must not update from a positive integer to nil value");
  return true;
}

// All members of a toleration except its seconds.
using TolerationKey = std::array<std::string_view, 4>;
TolerationKey key_of(const Object& toleration) {
  return {get_string(toleration, "key"), get_string(toleration, "operator"), get_string(toleration, "value"),
          get_string(toleration, "effect")};
}

// Tolerations may be added. Old tolerations must not be removed, and only their tolerationSeconds may change.
void check_tolerations(const Object& spec, const Object& before, FieldErrors& errors) {
  std::set<TolerationKey> present;
  each(spec, "tolerations", [&](const Object& toleration, std::size_t) { present.insert(key_of(toleration)); });
  bool all_kept = true;
  each(before, "tolerations", [&](const Object& old, std::size_t) { all_kept = all_kept && present.contains(key_of(old)); });
  if (!all_kept) {
    errors.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  // Upstream validates the tolerations twice on update, so their errors are reported twice.
  const Schema& tolerations = type_of("Toleration");
  each(spec, "tolerations", [&](const Object& toleration, std::size_t i) {
    tolerations.check(toleration, nullptr, ObjectPart::kWhole, at("spec.tolerations", i), errors);
  });
}

void check_scheduling_gates(const Object& spec, const Object& before, FieldErrors& errors) {
  std::set<std::string_view> known;
  each(before, "schedulingGates", [&](const Object& old, std::size_t) { known.insert(get_string(old, "name")); });
  each(spec, "schedulingGates", [&](const Object& gate, std::size_t i) {
    const std::string_view name = get_string(gate, "name");
    if (known.contains(name)) return;
    errors.forbidden(at(at("spec.schedulingGates", i), "name"),
                     "only deletion is allowed, but found new scheduling gate '" + std::string(name) + "'");
  });
}

void check_node_selector(const Object& spec, const Object& before, FieldErrors& errors) {
  const Object &now = object_or_empty(spec, "nodeSelector"), &old = object_or_empty(before, "nodeSelector");
  if (std::all_of(old.begin(), old.end(), [&](const auto& member) { return same_member(now, old, member.key()); })) return;
  errors.invalid_raw("spec.nodeSelector", has(spec, "nodeSelector") ? to_json(now) : "null",
                     "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
}

// True if the list begins with all its old items.
bool only_grows(const Object& now, const Object& before, std::string_view list) {
  const Array* old = get_array(before, list);
  const Array* grown = get_array(now, list);
  if (old == nullptr || old->empty()) return true;
  return grown != nullptr && grown->size() >= old->size() && std::equal(old->begin(), old->end(), grown->begin());
}

// Returns true if the term has all its old requirements. A term without requirements matches no node, so it must not get any.
bool term_only_grows(const Object& now, const Object& before) {
  const auto empty = [](const Object& term) { return count_of(term, "matchExpressions") + count_of(term, "matchFields") == 0; };
  if (empty(before) && !empty(now)) return false;
  return only_grows(now, before, "matchExpressions") && only_grows(now, before, "matchFields");
}

void check_node_affinity(const Object& affinity, const Object& before, FieldErrors& errors) {
  const std::string path = "spec.affinity.nodeAffinity." + std::string(kRequired) + ".nodeSelectorTerms";
  const Array* old = get_array(object_or_empty(before, kRequired), "nodeSelectorTerms");
  const Array* now = get_array(object_or_empty(affinity, kRequired), "nodeSelectorTerms");
  if (old == nullptr || old->empty()) return;
  if (now == nullptr || now->size() != old->size()) {
    Array printed;
    each(object_or_empty(affinity, kRequired), "nodeSelectorTerms",
         [&](const Object& term, std::size_t) { printed.push_back(type_of("NodeSelectorTerm").go_struct(term)); });
    return errors.invalid_raw(path, now != nullptr ? to_json(printed) : "null",
                              "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (std::size_t i = 0; i < old->size(); ++i) {
    const Object* term = (*now)[i].if_object();
    const Object* was = (*old)[i].if_object();
    if (term == nullptr || was == nullptr || term_only_grows(*term, *was)) continue;
    errors.invalid_raw(at(path, i), to_json(type_of("NodeSelectorTerm").go_struct(*term)),
                       "only additions are allowed (no mutations or deletions)");
  }
}

// Restores the old node affinity; removes an affinity that contained nothing else.
void take_node_affinity(Object& spec, const Object& before) {
  const Object* old = get_object(before, "affinity");
  Object* affinity = mutable_object(spec, "affinity");
  if (affinity == nullptr) {
    if (const Value* kept = find(object_or_empty(before, "affinity"), "nodeAffinity")) {
      ensure_object(spec, "affinity")["nodeAffinity"] = *kept;
    }
  } else if (old == nullptr && !has(*affinity, "podAffinity") && !has(*affinity, "podAntiAffinity")) {
    erase_member(spec, "affinity");
  } else {
    take_member(*affinity, object_or_empty(before, "affinity"), "nodeAffinity");
  }
}

// While a scheduling gate exists, the set of possible nodes may be restricted further.
void take_gated_changes(Object& spec, const Object& before, FieldErrors& errors) {
  if (count_of(before, "schedulingGates") == 0) return;
  check_node_selector(spec, before, errors);
  take_member(spec, before, "nodeSelector");
  const Object& affinity = object_or_empty(object_or_empty(spec, "affinity"), "nodeAffinity");
  const Object& old = object_or_empty(object_or_empty(before, "affinity"), "nodeAffinity");
  if (affinity == old) return;
  check_node_affinity(affinity, old, errors);
  take_node_affinity(spec, before);
}

// Returns `spec` with the old values of all members that may change.
Object without_allowed_changes(const Object& spec, const Object& before) {
  Object out(spec);
  for (std::string_view list : {"containers", "initContainers"}) {
    std::size_t i = 0;  // the number of containers is unchanged
    each_mutable(out, list, [&](Object& container) { take_member(container, (*get_array(before, list))[i++].get_object(), "image"); });
  }
  for (std::string_view member : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) take_member(out, before, member);
  const auto grace = get_int(before, "terminationGracePeriodSeconds");
  if (grace && *grace < 0 && get_int(out, "terminationGracePeriodSeconds") == std::optional<std::int64_t>(1)) {
    take_member(out, before, "terminationGracePeriodSeconds");
  }
  return out;
}

}  // namespace

void check_pod_change(const Object& object, const Object& old, FieldErrors& errors) {
  const Object& spec = object_or_empty(object, "spec");
  const Object& before = object_or_empty(old, "spec");
  if (!check_containers(spec, before, "containers", errors) || !check_containers(spec, before, "initContainers", errors)) return;
  if (!check_deadline(spec, before, errors)) return;
  check_tolerations(spec, before, errors);
  check_scheduling_gates(spec, before, errors);
  if (spec == before) return;
  Object rest = without_allowed_changes(spec, before);
  take_gated_changes(rest, before, errors);
  if (rest == before) return;
  const auto difference = struct_difference(type_of("PodSpec"), before, rest);
  if (difference) errors.forbidden("spec", std::string(kMayChange) + "\n" + *difference);
}

}  // namespace backplane::core

// The subresource /status of pods: the rules for reports of kubelets and schedulers (ValidatePodStatusUpdate).
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_annotations.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/kinds.hpp"
#include "pods/container_statuses.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kRestartAll = "RestartAllContainers";

std::vector<std::string> ips_of(const Object& status, std::string_view list) {
  std::vector<std::string> out;
  each(status, list, [&](const Object& item, std::size_t) { out.emplace_back(get_string(item, "ip")); });
  return out;
}

// Formats the list as upstream's messages print its Go structs.
std::string print_ips(const std::vector<std::string>& ips) {
  std::string out;
  for (const std::string& ip : ips) out += (out.empty() ? "[{\"IP\":" : ",{\"IP\":") + quoted(ip) + "}";
  return out + "]";
}

// Checks that there is at most one address of each family, and that new addresses are valid. An address that the old list contains may be
// invalid.
void check_ips(const Object& status, const Object& before, std::string_view list, FieldErrors& errors) {
  const std::string path = at("status", list);
  const auto now = ips_of(status, list), old = ips_of(before, list);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (std::find(old.begin(), old.end(), now[i]) == old.end()) add_problems(legacy_ip_problems(now[i]), at(path, i), now[i], errors);
  }
  if (now.size() < 2) return;
  std::string why;
  const bool both = is_dual_stack(now, why);
  if (!why.empty()) errors.internal(path, "failed to check for dual stack with error:" + why);
  if (!both || now.size() > 2) errors.invalid_raw(path, print_ips(now), "may specify no more than one IP for each IP family");
}

void check_host_ips(const Object& status, const Object& before, FieldErrors& errors) {
  const auto ips = ips_of(status, "hostIPs");
  if (!ips.empty() && get_string(status, "hostIP") != ips[0]) {
    errors.invalid("status.hostIPs[0].ip", ips[0], "must be equal to `hostIP`");
  }
  check_ips(status, before, "hostIPs", errors);
}

bool restarts_by(std::string_view policy, std::int64_t exit_code) { return policy != "Never" && (policy != "OnFailure" || exit_code != 0); }

// The first restart rule of a container that matches its exit code.
const Object* rule_for(const Object& container, std::int64_t exit_code) {
  const Object* out = nullptr;
  each(container, "restartPolicyRules", [&](const Object& rule, std::size_t) {
    const Object* codes = get_object(rule, "exitCodes");
    if (out != nullptr || codes == nullptr) return;
    const Array* values = get_array(*codes, "values");
    const bool listed = values != nullptr && std::find(values->begin(), values->end(), Value(exit_code)) != values->end();
    const std::string_view op = get_string(*codes, "operator");
    if ((op == "In" && listed) || (op == "NotIn" && !listed)) out = &rule;
  });
  return out;
}

bool should_restart(const Object& container, const Object& spec, std::int64_t exit_code) {
  if (has(container, "restartPolicy")) {
    const Object* rule = rule_for(container, exit_code);
    const std::string_view action = rule ? get_string(*rule, "action") : std::string_view();
    if (action == "Restart" || action == kRestartAll) return true;
    const std::string_view policy = get_string(container, "restartPolicy");
    if (policy == "Always" || policy == "OnFailure" || policy == "Never") return restarts_by(policy, exit_code);
  }
  return restarts_by(get_string(spec, "restartPolicy"), exit_code);
}

bool all_could_restart(const Object& spec) {
  bool out = false;
  for (std::string_view list : {"initContainers", "containers"}) {
    each(spec, list, [&](const Object& container, std::size_t) {
      out = out || find_item(container, "restartPolicyRules", "action", kRestartAll) != nullptr;
    });
  }
  return out;
}

struct StatusList {
  std::string_view statuses;
  std::string_view containers;  // empty: these containers never restart
};
constexpr StatusList kStatusLists[] = {
    {"containerStatuses", "containers"}, {"initContainerStatuses", "initContainers"}, {"ephemeralContainerStatuses", ""}};

// An ended container stays ended unless the pod's restart policy restarts it.
void check_transitions(const Object& status, const Object& before, const Object& spec, const StatusList& row, FieldErrors& errors) {
  if (!row.containers.empty() && all_could_restart(spec)) return;
  each(before, row.statuses, [&](const Object& old, std::size_t i) {
    const Object* ended = get_object(object_or_empty(old, "state"), "terminated");
    const Object* now = find_item(status, row.statuses, "name", get_string(old, "name"));
    if (ended == nullptr || now == nullptr || has(object_or_empty(*now, "state"), "terminated")) return;
    const Object* container = row.containers.empty() ? nullptr : find_item(spec, row.containers, "name", get_string(old, "name"));
    if (container != nullptr && should_restart(*container, spec, get_int(*ended, "exitCode").value_or(0))) return;
    errors.forbidden(at(at(at("status", row.statuses), i), "state"), "may not be transitioned to non-terminated state");
  });
}

void check_claim_statuses(const Object& status, const Object& spec, FieldErrors& errors) {
  each(status, "resourceClaimStatuses", [&](const Object& claim, std::size_t i) {
    const std::string_view name = get_string(claim, "name");
    if (find_item(spec, "resourceClaims", "name", name) != nullptr) return;
    errors.invalid(at(at("status.resourceClaimStatuses", i), "name"), name, "must match the name of an entry in `spec.resourceClaims`");
  });
}

// Restores each observedGeneration that the update lacks, because older clients omit the field.
void keep_generations(Object& status, const Object& before) {
  const auto keep = [](Object& now, std::int64_t generation) {
    if (generation != 0 && get_int(now, "observedGeneration").value_or(0) == 0) now["observedGeneration"] = generation;
  };
  keep(status, get_int(before, "observedGeneration").value_or(0));
  std::map<std::string, std::vector<std::int64_t>> old;  // by the conditions' type, which may occur more than once
  each(before, "conditions", [&](const Object& condition, std::size_t) {
    old[std::string(get_string(condition, "type"))].push_back(get_int(condition, "observedGeneration").value_or(0));
  });
  each_mutable(status, "conditions", [&](Object& condition) {
    auto& left = old[std::string(get_string(condition, "type"))];
    if (left.empty()) return;
    keep(condition, left.front());
    left.erase(left.begin());
  });
}

// podIP must equal the first item of podIPs; if they differ, podIP wins, because old clients set only that.
void name_addresses(Object& status) {
  const std::string address(get_string(status, "podIP"));
  const Array* list = get_array(status, "podIPs");
  const bool listed = list != nullptr && !list->empty() && list->front().is_object();
  const std::string first(listed ? get_string(list->front().get_object(), "ip") : std::string_view());
  if (address.empty()) {
    if (!first.empty()) status["podIP"] = first;
  } else if (address != first) {
    Array only;
    only.emplace_back(Object{{"ip", address}});
    status["podIPs"] = std::move(only);
  }
}

const Object* container_named(const Object& spec, std::string_view name) {
  const Object* found = nullptr;
  for (const std::string_view list : {"initContainers", "containers"}) {
    each(spec, list, [&](const Object& container, std::size_t) {
      if (get_string(container, "name") == name) found = &container;
    });
  }
  return found;
}

// Checks the status of the claim for extended resources. The containers and resource requests that it names must exist.
void check_extended_claim(const Object& claim, const Object& spec, FieldErrors& errors) {
  const Path status("status"), path = status.at("extendedResourceClaimStatus"), list = path.at("requestMappings");
  const Array* mappings = get_array(claim, "requestMappings");
  if (mappings == nullptr || mappings->empty()) errors.required(list, "at least one request mapping is required");
  std::set<std::string> seen;
  each(claim, "requestMappings", [&](const Object& mapping, std::size_t i) {
    const Path item = path.at("requestMappings", i);
    constexpr std::array<std::string_view, 3> kMembers = {"containerName", "resourceName", "requestName"};
    const std::string_view name = get_string(mapping, "containerName"), resource = get_string(mapping, "resourceName");
    const Object* container = container_named(spec, name);
    if (container == nullptr) {
      errors.invalid(item.at("containerName"), name, "must match the name of an entry in spec.initContainers.name or spec.containers.name");
    } else if (!object_or_empty(object_or_empty(*container, "resources"), "requests").contains(resource)) {
      errors.invalid(item.at("resourceName"), resource,
                     "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                     "spec.containers.resources.requests");
    }
    const std::string_view request = get_string(mapping, "requestName");
    for (const std::string& problem : is_dns1123_label(request)) errors.invalid(path.at("requestName"), request, problem);
    std::string key;
    for (const std::string_view member : kMembers) key.append(get_string(mapping, member)).push_back('\n');
    if (seen.insert(key).second) return;
    for (const std::string_view member : kMembers) errors.duplicate(item.at(member), get_string(mapping, member));
  });
  const std::string_view name = get_string(claim, "resourceClaimName");
  if (name.empty()) errors.required(path.at("resourceClaimName"));
  for (const std::string& problem : name.empty() ? Problems() : is_dns1123_subdomain(name)) {
    errors.invalid(path.at("resourceClaimName"), name, problem);
  }
}

class PodStatusStrategy final : public StatusStrategy {
 public:
  explicit PodStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.kept_metadata = {"ownerReferences"},
                                           .resets = {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}}) {}
  void apply_defaults(Object& object) const override {
    if (has(object, "status")) name_addresses(ensure_object(object, "status"));
  }
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    Object& status = ensure_object(object, "status");
    const Object& before = object_or_empty(old, "status");
    if (is_unset(find(status, "qosClass"))) take_member(status, before, "qosClass");
    keep_generations(status, before);
  }
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    Warnings out;
    for (std::string_view list : {"podIPs", "hostIPs"}) {
      each(object_or_empty(object, "status"), list, [&](const Object& item, std::size_t i) {
        for (std::string& text : ip_warnings(at(at(at("status", list), i), "ip"), get_string(item, "ip"))) out.push_back(std::move(text));
      });
    }
    return out;
  }

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    const Object& before = object_or_empty(old, "status");
    const Object& spec = object_or_empty(old, "spec");
    validate_pod_annotation_changes(object, old, errors);
    for (const StatusList& row : kStatusLists) check_transitions(status, before, spec, row, errors);
    check_claim_statuses(status, spec, errors);
    check_ips(status, before, "podIPs", errors);
    check_host_ips(status, before, errors);
    check_container_statuses(spec, status, errors);
    if (const Object* claim = get_object(status, "extendedResourceClaimStatus")) check_extended_claim(*claim, spec, errors);
  }
};

}  // namespace

std::shared_ptr<const Strategy> pod_status_strategy(std::shared_ptr<const Strategy> parent) {
  return std::make_shared<PodStatusStrategy>(std::move(parent));
}

}  // namespace backplane::core

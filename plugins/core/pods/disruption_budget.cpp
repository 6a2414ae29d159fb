#include "pods/disruption_budget.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/workload/workload.hpp"

namespace backplane::core {
namespace {

using namespace kit;

// The maximum number of evictions that the disruption controller has not processed yet.
constexpr std::size_t kMostDisruptedPods = 2000;
constexpr int kRetrySeconds = 10;
constexpr std::string_view kAllowed = "DisruptionAllowed";

Status refuse(int retry_after_seconds, std::string why) {
  Status out = too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", retry_after_seconds);
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  details.causes.push_back({"DisruptionBudget", std::move(why), ""});
  return out.with_details(std::move(details));
}

Status broken(std::string_view name, std::string_view why) { return forbidden("policy", "poddisruptionbudget", name, why); }

// The reason why a budget allows no disruption.
std::string reason_of(const Object& status, const std::string& name) {
  const std::string budget = "The disruption budget " + name;
  const Object* condition = find_item(status, "conditions", "type", kAllowed);
  const bool explained = condition != nullptr && get_string(*condition, "status") == "False" && !get_string(*condition, "message").empty();
  const std::string message(explained ? get_string(*condition, "message") : std::string_view());
  const std::string reason(explained ? get_string(*condition, "reason") : std::string_view());
  // After a failed sync the numbers in the status are not valid.
  if (explained && reason == "SyncFailed") return budget + " does not allow evicting pods currently because it failed sync: " + message;
  const std::int64_t healthy = get_int(status, "currentHealthy").value_or(0), wanted = get_int(status, "desiredHealthy").value_or(0);
  if (healthy <= wanted) {
    return budget + " needs " + std::to_string(wanted) + " healthy pods and has " + std::to_string(healthy) + " currently";
  }
  if (explained) return budget + " does not allow evicting pods currently (" + reason + "): " + message;
  return budget + " does not allow evicting pods currently";
}

void set_exhausted(Object& status) {
  Array& conditions = ensure_array(status, "conditions");
  Object* condition = nullptr;
  for (Value& item : conditions) {
    if (item.is_object() && get_string(item.get_object(), "type") == kAllowed) condition = &item.get_object();
  }
  if (condition == nullptr) condition = &conditions.emplace_back(Object{{"type", kAllowed}}).get_object();
  if (get_string(*condition, "status") != "False") {
    (*condition)["status"] = "False";
    (*condition)["lastTransitionTime"] = now_rfc3339();
  }
  (*condition)["reason"] = "InsufficientPods";
  (*condition)["message"] = "";
  (*condition)["observedGeneration"] = get_int(status, "observedGeneration").value_or(0);
}

}  // namespace

bool covers(const Object& budget, const Object& pod) {
  const Object* selector = get_object(object_or_empty(budget, "spec"), "selector");
  if (selector == nullptr || !workload::is_valid_selector(*selector, "")) return false;
  return workload::selector_matches(*selector, get_object(object_or_empty(pod, "metadata"), "labels")).value_or(false);
}

bool is_ready(const Object& pod) {
  const Object* ready = find_item(object_or_empty(pod, "status"), "conditions", "type", "Ready");
  return ready != nullptr && get_string(*ready, "status") == "True";
}

bool allows_unready_eviction(const Object& budget) {
  if (get_string_path(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  const Object& status = object_or_empty(budget, "status");
  const std::int64_t wanted = get_int(status, "desiredHealthy").value_or(0);
  return wanted > 0 && get_int(status, "currentHealthy").value_or(0) >= wanted;
}

Status take_disruption(Object& budget, std::string_view pod_name) {
  const std::string name(meta_name(budget));
  const std::int64_t generation = get_int_path(budget, "metadata.generation").value_or(0);
  Object& status = ensure_object(budget, "status");
  const std::int64_t allowed = get_int(status, "disruptionsAllowed").value_or(0);
  if (get_int(status, "observedGeneration").value_or(0) < generation) return still_processing(name);
  if (allowed < 0) return broken(name, "pdb disruptions allowed is negative");
  if (object_or_empty(status, "disruptedPods").size() > kMostDisruptedPods) {
    return broken(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed == 0) return refuse(0, reason_of(status, name));
  status["disruptionsAllowed"] = allowed - 1;
  if (allowed == 1) set_exhausted(status);
  ensure_object(status, "disruptedPods")[pod_name] = now_rfc3339();
  return {};
}

Status still_processing(std::string_view budget_name) {
  return refuse(kRetrySeconds, "The disruption budget " + std::string(budget_name) + " is still being processed by the server.");
}

}  // namespace backplane::core

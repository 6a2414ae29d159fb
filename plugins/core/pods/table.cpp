// The table of pods for kubectl (pkg/printers/internalversion printPod).
#include "pods/table.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::core {
namespace {

using namespace kit;

struct Summary {
  std::string reason;
  std::int64_t restarts = 0;
  std::int64_t last_restart = 0;  // unix seconds; 0: none
  std::int64_t ready = 0;
  std::int64_t total = 0;
};

const Object& state_of(const Object& status, std::string_view which, std::string_view state) {
  return object_or_empty(object_or_empty(status, which), state);
}

bool is_sidecar(const Object& pod_spec, std::string_view name) {
  const Object* container = find_item(pod_spec, "initContainers", "name", name);
  return container != nullptr && get_string(*container, "restartPolicy") == "Always";
}

void note_restart(Summary& summary, const Object& status) {
  const auto finished = parse_rfc3339(get_string(state_of(status, "lastState", "terminated"), "finishedAt"));
  if (finished && *finished > summary.last_restart) summary.last_restart = *finished;
}

std::string terminated_text(const Object& terminated) {
  if (const std::string_view reason = get_string(terminated, "reason"); !reason.empty()) return std::string(reason);
  if (const auto signal = get_int(terminated, "signal").value_or(0); signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(get_int(terminated, "exitCode").value_or(0));
}

// Returns whether an init container is still running or waiting.
bool summarize_init(const Object& pod, Summary& summary) {
  const Object& spec = object_or_empty(pod, "spec");
  const Array* init = get_array(spec, "initContainers");
  bool waiting = false;
  std::int64_t sidecar_restarts = 0;
  each(object_or_empty(pod, "status"), "initContainerStatuses", [&](const Object& status, std::size_t i) {
    if (waiting) return;
    const bool sidecar = is_sidecar(spec, get_string(status, "name"));
    const std::int64_t restarts = get_int(status, "restartCount").value_or(0);
    summary.restarts += restarts;
    note_restart(summary, status);
    if (sidecar) sidecar_restarts += restarts;
    const Object* terminated = get_object(object_or_empty(status, "state"), "terminated");
    if (terminated != nullptr && get_int(*terminated, "exitCode").value_or(0) == 0) return;
    if (sidecar && get_bool(status, "started").value_or(false)) {
      if (get_bool(status, "ready").value_or(false)) ++summary.ready;
      return;
    }
    const std::string_view why = get_string(state_of(status, "state", "waiting"), "reason");
    if (terminated != nullptr) {
      summary.reason = "Init:" + terminated_text(*terminated);
    } else if (!why.empty() && why != "PodInitializing") {
      summary.reason = "Init:" + std::string(why);
    } else {
      summary.reason = "Init:" + std::to_string(i) + "/" + std::to_string(init ? init->size() : 0);
    }
    waiting = true;
  });
  if (!waiting) summary.restarts = sidecar_restarts;
  return waiting;
}

// Returns true if the pod's condition `type` is True.
bool is_true(const Object& pod, std::string_view type) {
  const Object* condition = find_item(object_or_empty(pod, "status"), "conditions", "type", type);
  return condition != nullptr && get_string(*condition, "status") == "True";
}

void summarize_containers(const Object& pod, Summary& summary) {
  const Array* statuses = get_array(object_or_empty(pod, "status"), "containerStatuses");
  bool running = false;
  for (std::size_t i = statuses ? statuses->size() : 0; i > 0; --i) {
    const Object* status = (*statuses)[i - 1].if_object();
    if (status == nullptr) continue;
    summary.restarts += get_int(*status, "restartCount").value_or(0);
    note_restart(summary, *status);
    const std::string_view waiting = get_string(state_of(*status, "state", "waiting"), "reason");
    const Object* terminated = get_object(object_or_empty(*status, "state"), "terminated");
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (terminated != nullptr) {
      summary.reason = terminated_text(*terminated);
    } else if (get_bool(*status, "ready").value_or(false) && get_object(object_or_empty(*status, "state"), "running") != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason == "Completed" && running) summary.reason = is_true(pod, "Ready") ? "Running" : "NotReady";
}

Summary summarize(const Object& pod) {
  Summary summary;
  const Object& spec = object_or_empty(pod, "spec");
  summary.reason = get_string_path(pod, "status.phase");
  if (const std::string_view reason = get_string_path(pod, "status.reason"); !reason.empty()) summary.reason = reason;
  const Object* scheduled = find_item(object_or_empty(pod, "status"), "conditions", "type", "PodScheduled");
  if (scheduled != nullptr && get_string(*scheduled, "reason") == "SchedulingGated") summary.reason = "SchedulingGated";
  summary.total = static_cast<std::int64_t>(count_of(spec, "containers"));
  each(spec, "initContainers",
       [&](const Object& container, std::size_t) { summary.total += get_string(container, "restartPolicy") == "Always"; });
  if (!summarize_init(pod, summary)) summarize_containers(pod, summary);
  if (!meta_text(pod, "deletionTimestamp").empty()) {
    const std::string_view phase = get_string_path(pod, "status.phase");
    if (get_string_path(pod, "status.reason") == "NodeLost")
      summary.reason = "Unknown";
    else if (phase != "Failed" && phase != "Succeeded")
      summary.reason = "Terminating";
  }
  return summary;
}

void print_summary(const Object& pod, std::int64_t now, Array& cells) {
  const Summary summary = summarize(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts != 0 && summary.last_restart != 0) restarts += " (" + human_duration(now - summary.last_restart) + " ago)";
  cells.emplace_back(std::to_string(summary.ready) + "/" + std::to_string(summary.total));
  cells.emplace_back(summary.reason);
  cells.emplace_back(restarts);
}
// Prints "1/2": the number of readiness gates that are True, and the number of all gates.
void print_gates(const Object& pod, std::int64_t, Array& cells) {
  const std::size_t total = count_of(object_or_empty(pod, "spec"), "readinessGates");
  std::int64_t met = 0;
  each(object_or_empty(pod, "spec"), "readinessGates",
       [&](const Object& gate, std::size_t) { met += is_true(pod, get_string(gate, "conditionType")) ? 1 : 0; });
  cells.emplace_back(total == 0 ? "<none>" : std::to_string(met) + "/" + std::to_string(total));
}

}  // namespace

void print_pod_conditions(const Object& pod, Array& conditions) {
  const std::string_view phase = get_string_path(pod, "status.phase");
  if (phase != "Succeeded" && phase != "Failed") return;
  Object& condition = conditions.emplace_back(Object(conditions.storage())).get_object();
  condition["type"] = "Completed";
  condition["status"] = "True";
  condition["reason"] = phase;
  condition["message"] = phase == "Failed" ? "The pod failed." : "The pod has completed successfully.";
}

void add_pod_printers(GroupCode& code) { code.printers.insert({{"podState", print_summary}, {"readinessGates", print_gates}}); }

}  // namespace backplane::core

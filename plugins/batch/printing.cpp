// The columns of jobs in kubectl get.
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using namespace kit;

// Returns true if the first condition of this type is True.
bool shows(const Object& job, std::string_view type) {
  const Object* condition = find_item(object_or_empty(job, "status"), "conditions", "type", type);
  return condition != nullptr && get_string(*condition, "status") == "True";
}

std::string_view status_of(const Object& job) {
  for (std::string_view end : {"Complete", "Failed"}) {
    if (shows(job, end)) return end;
  }
  if (!meta_text(job, "deletionTimestamp").empty()) return "Terminating";
  for (std::string_view state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (shows(job, state)) return state;
  }
  return "Running";
}

void print_status(const Object& job, std::int64_t, Array& cells) { cells.emplace_back(status_of(job)); }

void print_completions(const Object& job, std::int64_t, Array& cells) {
  const std::string succeeded = std::to_string(get_int_path(job, "status.succeeded").value_or(0));
  const auto completions = get_int_path(job, "spec.completions");
  const std::int64_t parallelism = get_int_path(job, "spec.parallelism").value_or(0);
  if (completions) {
    cells.emplace_back(succeeded + "/" + std::to_string(*completions));
  } else {
    cells.emplace_back(succeeded + (parallelism > 1 ? "/1 of " + std::to_string(parallelism) : "/1"));
  }
}

void print_duration(const Object& job, std::int64_t now_unix, Array& cells) {
  const auto start = parse_rfc3339(get_string_path(job, "status.startTime"));
  const auto end = parse_rfc3339(get_string_path(job, "status.completionTime"));
  cells.emplace_back(start ? human_duration(end.value_or(now_unix) - *start) : std::string());
}

Value show_truth(const Value* found, std::int64_t) {
  if (found == nullptr || !found->is_bool()) return "<unset>";
  return found->get_bool() ? "True" : "False";
}

Value show_since_or_none(const Value* found, std::int64_t now_unix) {
  return found != nullptr && found->is_string() ? show_age(found, now_unix) : Value("<none>");
}

}  // namespace

void add_printers(GroupCode& code) {
  code.printers.insert({{"jobStatus", print_status},
                        {"completions", print_completions},
                        {"jobDuration", print_duration},
                        {"truth", show_truth},
                        {"sinceOrNone", show_since_or_none}});
}

}  // namespace backplane::batch

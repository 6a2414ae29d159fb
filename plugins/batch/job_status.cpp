// Rules of a job's /status.  Most rules apply only if their fields have changed, so that a job with an inconsistent status, or whose spec
// has changed since, can still be updated.
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "index_ranges.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using namespace kit;

// The properties of a job that the rules use.
struct State {
  explicit State(const Object& job)
      : spec(object_or_empty(job, "spec")),
        status(object_or_empty(job, "status")),
        complete(is_true(job, "Complete")),
        failed(is_true(job, "Failed")),
        failure_target(is_true(job, "FailureTarget")),
        criteria_met(is_true(job, "SuccessCriteriaMet")) {}

  bool finished() const { return complete || failed; }
  std::int64_t number(std::string_view member) const { return get_int(status, member).value_or(0); }
  std::string_view text(std::string_view member) const { return get_string(status, member); }
  bool is_set(std::string_view member) const { return !is_unset(find(status, member)); }
  // Reads the spec.
  std::optional<std::int64_t> completions() const { return get_int(spec, "completions"); }
  bool indexed() const { return get_string(spec, "completionMode") == "Indexed"; }
  bool suspended() const { return get_bool(spec, "suspend").value_or(false); }

  const Object& spec;
  const Object& status;
  bool complete, failed, failure_target, criteria_met;
};

struct Change {
  const State& now;
  const State& old;
  bool of(std::string_view member) const { return !same_member(now.status, old.status, member); }
  bool of(bool State::*condition) const { return now.*condition != old.*condition; }
  bool finished() const { return now.finished() != old.finished(); }
};

void check_uncounted(const State& now, FieldErrors& errors) {
  std::set<std::string_view> seen;
  for (std::string_view list : {"succeeded", "failed"}) {
    each_text(object_or_empty(now.status, "uncountedTerminatedPods"), list, [&](std::string_view uid, std::size_t i) {
      const std::string path = at(at("status.uncountedTerminatedPods", list), i);
      if (uid.empty()) {
        errors.invalid(path, uid, "must not be empty");
      } else if (!seen.insert(uid).second) {
        errors.duplicate(path, uid);
      }
    });
  }
}

void refuse_conditions(std::string_view why, FieldErrors& errors) { refuse("status.conditions", why, errors); }

// ---- conditions

void check_end(const Change& change, FieldErrors& errors) {
  const State& now = change.now;
  if (now.complete && now.failed && (change.of(&State::complete) || change.of(&State::failed))) {
    refuse_conditions("cannot set Complete=True and Failed=true conditions", errors);
  }
  if (now.complete && now.failure_target && (change.of(&State::complete) || change.of(&State::failure_target))) {
    refuse_conditions("cannot set Complete=True and FailureTarget=true conditions", errors);
  }
  if (now.failed && !now.failure_target && (change.of(&State::failed) || change.of("failedIndexes"))) {
    refuse_conditions("cannot set Failed=True condition without the FailureTarget=true condition", errors);
  }
  if (now.complete && !now.criteria_met && (change.of(&State::complete) || change.of(&State::criteria_met))) {
    refuse_conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition", errors);
  }
}

void check_success(const State& now, FieldErrors& errors) {
  if (now.criteria_met && now.failed) refuse_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
  if (now.criteria_met && now.failure_target) {
    refuse_conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions", errors);
  }
  if (has(now.spec, "successPolicy") && now.complete && !now.criteria_met) {
    refuse_conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True", errors);
  }
}

// A finished condition must not be removed.
void check_undone(const Change& change, FieldErrors& errors) {
  struct Row {
    bool State::*condition;
    std::string_view name;
  };
  constexpr Row kTerminal[] = {{&State::failed, "Failed"}, {&State::complete, "Complete"}, {&State::failure_target, "FailureTarget"}};
  for (const Row& row : kTerminal) {
    if (!(change.old.*row.condition) || change.now.*row.condition) continue;
    refuse_conditions("cannot disable the terminal " + std::string(row.name) + "=True condition", errors);
  }
  if (change.old.criteria_met && !change.now.criteria_met) {
    refuse_conditions("cannot disable the SuccessCriteriaMet=True condition", errors);
  }
  if (change.old.complete && !change.old.criteria_met && change.now.criteria_met) {
    refuse_conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions", errors);
  }
}

// ---- times

std::string shown(const State& state, std::string_view member) {
  const Value* value = find(state.status, member);
  return value != nullptr ? to_json(*value) : "null";
}

void check_completion_time(const Change& change, FieldErrors& errors) {
  const State& now = change.now;
  const std::string path = "status.completionTime", time = shown(now, "completionTime");
  const bool set = now.is_set("completionTime");
  const bool changed = change.of(&State::complete) || change.of("completionTime");
  if (changed && set && !now.complete) {
    errors.invalid_raw(path, time, "cannot set completionTime when there is no Complete=True condition");
  }
  if (changed && !set && now.complete) errors.required(path, "completionTime is required for Complete jobs");
  const auto start = parse_rfc3339(now.text("startTime")), end = parse_rfc3339(now.text("completionTime"));
  if (start && end && *end < *start && (change.of("startTime") || change.of("completionTime"))) {
    errors.invalid_raw(path, time, "must be equal to or after `startTime`");
  }
  if (set && change.old.is_set("completionTime") && change.of("completionTime")) errors.invalid_raw(path, time, "field is immutable");
}

// Returns true if the job is resumed; it may then get a new start time.
bool is_resumed(const Object& job, const Object& old) {
  bool out = false;
  each(object_or_empty(job, "status"), "conditions", [&](const Object& condition, std::size_t) {
    out = out || (get_string(condition, "type") == "Suspended" && get_string(condition, "status") == "False");
  });
  return out && is_true(old, "Suspended");
}

void check_start_time(const Change& change, bool going_on, FieldErrors& errors) {
  const State& now = change.now;
  const std::string path = "status.startTime";
  const bool nothing_to_do = now.suspended() && now.completions() == 0;
  if (!now.is_set("startTime") && now.finished() && (change.finished() || change.of("startTime")) && !nothing_to_do) {
    errors.required(path, "startTime is required for finished job");
  }
  if (change.old.is_set("startTime") && change.of("startTime") && !now.suspended() && !going_on) {
    errors.invalid_raw(path, shown(now, "startTime"), "field is immutable for unsuspended job once set");
  }
}

// ---- counts and indexes

void check_finished(const Change& change, FieldErrors& errors) {
  const State& now = change.now;
  if (!now.finished()) return;
  const auto refuse_count = [&](std::string_view member, std::string_view why) {
    const auto number = static_cast<long long>(now.number(member));
    if (number > 0 && (change.finished() || change.of(member))) errors.invalid(at("status", member), number, why);
  };
  refuse_count("active", "active>0 is invalid for finished job");
  refuse_count("terminating", "terminating>0 is invalid for finished job");
  const Object& uncounted = object_or_empty(now.status, "uncountedTerminatedPods");
  if (count_of(uncounted, "succeeded") + count_of(uncounted, "failed") == 0) return;
  if (!change.finished() && !change.of("uncountedTerminatedPods")) return;
  errors.invalid_raw("status.uncountedTerminatedPods", go_text("UncountedTerminatedPods", uncounted), "must be empty for finished job");
}

void check_counts(const Change& change, FieldErrors& errors) {
  const State& now = change.now;
  const auto refuse_smaller = [&](std::string_view member) {
    if (now.number(member) >= change.old.number(member)) return;
    errors.invalid(at("status", member), static_cast<long long>(now.number(member)),
                   "cannot decrease the " + std::string(member) + " counter");
  };
  refuse_smaller("failed");
  // An indexed job whose parallelism equals its completions may shrink.
  if (!now.indexed() || now.completions() != get_int(now.spec, "parallelism")) refuse_smaller("succeeded");
  if (now.number("ready") > now.number("active") && (change.of("ready") || change.of("active"))) {
    errors.invalid("status.ready", static_cast<long long>(now.number("ready")), "cannot set more ready pods than active");
  }
}

void check_indexes(const Change& change, std::string_view member, FieldErrors& errors) {
  const std::string_view text = change.now.text(member);
  const IndexCount counted = count_indexes(text, *change.now.completions());
  if (counted.problem.empty()) return;
  errors.invalid(at("status", member), text, "error parsing " + std::string(member) + ": " + counted.problem);
}

void check_index_lists(const Change& change, FieldErrors& errors) {
  const State& now = change.now;
  const bool completed = change.of("completedIndexes"), failed = change.of("failedIndexes");
  const bool lists_failed = has(now.status, "failedIndexes");
  const bool per_index = has(now.spec, "backoffLimitPerIndex");
  if (completed && now.completions()) check_indexes(change, "completedIndexes", errors);
  if (failed && now.completions() && per_index && lists_failed) check_indexes(change, "failedIndexes", errors);
  if (completed && !now.text("completedIndexes").empty() && !now.indexed()) {
    errors.invalid("status.completedIndexes", now.text("completedIndexes"),
                   "cannot set non-empty completedIndexes when non-indexed completion mode");
  }
  if (failed && lists_failed && !per_index) {
    errors.invalid("status.failedIndexes", now.text("failedIndexes"),
                   "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
  }
  if ((!completed && !failed) || !now.completions()) return;
  const auto both = common_index(now.text("completedIndexes"), now.text("failedIndexes"), *now.completions());
  if (!both) return;
  errors.invalid("status.failedIndexes", now.text("failedIndexes"),
                 "failedIndexes and completedIndexes overlap at index: " + std::to_string(*both));
}

class JobStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    const State now(object), before(old);
    const Change change{now, before};
    check_uncounted(now, errors);
    check_end(change, errors);
    check_success(now, errors);
    check_undone(change, errors);
    check_completion_time(change, errors);
    check_start_time(change, is_resumed(object, old), errors);
    check_finished(change, errors);
    check_counts(change, errors);
    check_index_lists(change, errors);
  }
};

}  // namespace

std::shared_ptr<const Strategy> job_status_strategy(std::shared_ptr<const Strategy> parent) {
  return std::make_shared<JobStatusStrategy>(std::move(parent));
}

}  // namespace backplane::batch

// Rules of a JobSpec, of a job or of a cron job.
#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/domain_path.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "index_ranges.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using namespace kit;

constexpr std::int64_t kManyCompletions = 100'000;
constexpr std::int64_t kManyParallelism = 10'000;  // limits of parallelism and of failed indexes above this number of completions
constexpr std::size_t kMostRules = 20;
constexpr std::size_t kMostPatterns = 20;
constexpr std::size_t kMostExitCodes = 255;
constexpr std::size_t kMostManagerBytes = 63;
constexpr std::size_t kMostIndexBytes = std::size_t{64} << 10;

bool is_indexed(const Object& spec) { return get_string(spec, "completionMode") == "Indexed"; }

// ---- indexed jobs

void limit(const Object& spec, std::string_view member, std::int64_t most, const std::string& why, const Path& path, FieldErrors& errors) {
  const std::int64_t number = get_int(spec, member).value_or(0);
  if (number > most) errors.invalid(path.at(member), static_cast<long long>(number), why);
}

void check_indexed(const Object& spec, const Path& path, FieldErrors& errors) {
  const auto completions = get_int(spec, "completions");
  if (!completions) return;
  limit(spec, "maxFailedIndexes", *completions, "must be less than or equal to completions", path, errors);
  if (*completions <= kManyCompletions || !has(spec, "backoffLimitPerIndex")) return;
  if (!has(spec, "maxFailedIndexes")) errors.required(path.at("maxFailedIndexes"), "must be specified when completions is above 100000");
  for (std::string_view member : {"parallelism", "maxFailedIndexes"}) {
    limit(spec, member, kManyParallelism,
          "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index", path, errors);
  }
}

void check_success_rule(const Object& rule, std::int64_t completions, const Path& path, FieldErrors& errors) {
  const Value* indexes = find(rule, "succeededIndexes");
  const auto count = get_int(rule, "succeededCount");
  if (indexes == nullptr && !count) errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  std::int64_t named = 0;
  if (indexes != nullptr) {
    const std::string_view text = text_of(*indexes);
    if (text.size() > kMostIndexBytes) errors.too_long(path.at("succeededIndexes"), text, kMostIndexBytes);
    const IndexCount counted = count_indexes(text, completions);
    if (!counted.problem.empty()) {
      errors.invalid(path.at("succeededIndexes"), text, "error parsing succeededIndexes: " + counted.problem);
    }
    named = counted.total;
  }
  if (!count) return;
  const auto number = static_cast<long long>(*count);
  const Path at = path.at("succeededCount");
  const std::string bound = "must be less than or equal to ";
  if (number < 0) errors.invalid(at, number, "must be greater than or equal to 0");
  if (number > completions) errors.invalid(at, number, bound + std::to_string(completions) + " (the number of specified completions)");
  if (indexes != nullptr && number > named) {
    errors.invalid(at, number, bound + std::to_string(named) + " (the number of indexes in the specified succeededIndexes field)");
  }
}

void check_success_policy(const Object& spec, const Path& path, FieldErrors& errors) {
  const Object* policy = get_object(spec, "successPolicy");
  if (policy == nullptr) return;
  if (!is_indexed(spec)) return errors.invalid_raw(path, go_text("SuccessPolicy", *policy), "requires indexed completion mode");
  const std::size_t count = count_of(*policy, "rules");
  if (count == 0) errors.required(path.at("rules"), "at least one rules must be specified when the successPolicy is specified");
  if (count > kMostRules) errors.too_many(path.at("rules"), static_cast<long long>(count), kMostRules);
  // An indexed job without completions has another error already.
  const std::int64_t completions = get_int(spec, "completions").value_or(0);
  each(*policy, "rules", [&](const Object& rule, std::size_t i) { check_success_rule(rule, completions, path.at("rules", i), errors); });
}

// ---- failed pods

std::set<std::string> container_names(const Object& spec) {
  std::set<std::string> out;
  const Object& pod = object_or_empty(object_or_empty(spec, "template"), "spec");
  for (std::string_view list : {"containers", "initContainers"}) {
    each(pod, list, [&](const Object& container, std::size_t) { out.emplace(get_string(container, "name")); });
  }
  return out;
}

void check_exit_codes(const Array* values, bool listed, const Path& path, FieldErrors& errors) {
  const std::string shown = values != nullptr ? to_json(*values) : "null";
  const std::size_t count = values != nullptr ? values->size() : 0;
  if (count == 0) errors.invalid_raw(path, shown, "at least one value is required");
  if (count > kMostExitCodes) errors.too_many(path, static_cast<long long>(count), kMostExitCodes);
  std::set<std::int64_t> seen;
  bool rising = true;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t code = (*values)[i].is_int64() ? (*values)[i].get_int64() : 0;
    if (listed && code == 0) errors.invalid(path.at(i), 0LL, "must not be 0 for the In operator");
    if (!seen.insert(code).second) errors.duplicate_raw(path.at(i), std::to_string(code));
    rising = rising && (i == 0 || last <= code);
    last = code;
  }
  if (!rising) errors.invalid_raw(path, shown, "must be ordered");
}

void check_failure_rule(const Object& rule, const Object& spec, const std::set<std::string>& containers, const Path& path,
                        FieldErrors& errors) {
  if (get_string(rule, "action") == "FailIndex" && !has(spec, "backoffLimitPerIndex")) {
    errors.invalid(path.at("action"), "FailIndex", "requires the backoffLimitPerIndex to be set");
  }
  const Object* codes = get_object(rule, "onExitCodes");
  if (codes != nullptr) {
    const Path at = path.at("onExitCodes");
    const Value* container = find(*codes, "containerName");
    if (container != nullptr && !containers.contains(std::string(text_of(*container)))) {
      errors.invalid(at.at("containerName"), text_of(*container),
                     "must be one of the container or initContainer names in the pod template");
    }
    check_exit_codes(get_array(*codes, "values"), get_string(*codes, "operator") == "In", at.at("values"), errors);
  }
  const std::size_t patterns = count_of(rule, "onPodConditions");
  if (patterns > kMostPatterns) errors.too_many(path.at("onPodConditions"), static_cast<long long>(patterns), kMostPatterns);
  if (codes != nullptr && patterns > 0) refuse(path, "specifying both OnExitCodes and OnPodConditions is not supported", errors);
  if (codes == nullptr && patterns == 0) refuse(path, "specifying one of OnExitCodes and OnPodConditions is required", errors);
}

void check_failure_policy(const Object& spec, const Path& path, FieldErrors& errors) {
  const Object* policy = get_object(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  const std::size_t count = count_of(*policy, "rules");
  if (count > kMostRules) errors.too_many(path.at("rules"), static_cast<long long>(count), kMostRules);
  const std::set<std::string> containers = container_names(spec);
  each(*policy, "rules",
       [&](const Object& rule, std::size_t i) { check_failure_rule(rule, spec, containers, path.at("rules", i), errors); });
}

}  // namespace

void check_job_spec(const Object& spec, const Path& path, FieldErrors& errors) {
  if (const Value* manager = find(spec, "managedBy")) {
    const Path at = path.at("managedBy");
    if (text_of(*manager).empty()) {
      errors.required(at);
    } else {
      validate_domain_path(text_of(*manager), at, errors);
    }
    if (text_of(*manager).size() > kMostManagerBytes) errors.too_long(at, text_of(*manager), kMostManagerBytes);
  }
  if (is_indexed(spec)) check_indexed(spec, path, errors);
  check_failure_policy(spec, path.at("podFailurePolicy"), errors);
  check_success_policy(spec, path.at("successPolicy"), errors);
}

void canonicalize_job(Object& job) {
  workload::canonicalize_template(job);
  Object* policy = mutable_object(ensure_object(job, "spec"), "podFailurePolicy");
  if (policy != nullptr) null_when_empty(*policy, "rules");
}

void check_restart_policy(const Object& spec, const Path& path, FieldErrors& errors) {
  const std::string_view policy = get_string_path(spec, "template.spec.restartPolicy");
  const Path at = path.at("template.spec.restartPolicy");
  if (policy.empty() || policy == "Always") {
    errors.required(at, "valid values: \"OnFailure\", \"Never\"");
  } else if (policy != "OnFailure" && policy != "Never") {
    errors.not_supported(at, policy, {"OnFailure", "Never"});
  } else if (policy != "Never" && has(spec, "podFailurePolicy")) {
    errors.invalid(at, policy, "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

void warn_of_job_spec(const Object& spec, const Path& path, workload::Warnings& out) {
  const bool many =
      get_int(spec, "completions").value_or(0) > kManyCompletions && get_int(spec, "parallelism").value_or(0) > kManyParallelism;
  if (is_indexed(spec) && many) {
    out.push_back(path +
                  ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might "
                  "not be able to track completedIndexes when a big number of indexes fail");
  }
  for (std::string& text : workload::pod_warnings(path.at("template"), object_or_empty(spec, "template"))) out.push_back(std::move(text));
}

}  // namespace backplane::batch

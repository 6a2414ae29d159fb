// Cron jobs.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/strategy.hpp"
#include "cron_schedule.hpp"
#include "kinds.hpp"
#include "time_zones.hpp"

namespace backplane::batch {
namespace {

using namespace kit;
using namespace workload;

constexpr std::size_t kMostNameBytes = 52;  // 11 characters are reserved for the time in the names of its jobs
constexpr std::string_view kNameText = "must be no more than 52 characters";
constexpr std::size_t kMostZonePartBytes = 14;
constexpr std::string_view kZoneText =
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

const Object& job_spec(const Object& spec) { return object_or_empty(object_or_empty(spec, "jobTemplate"), "spec"); }

bool names_zone(std::string_view schedule) { return schedule.find("TZ") != std::string_view::npos; }

// The schedule may contain a time zone only if the old schedule does: older objects, from before the field timeZone existed, may have one.
void check_schedule(const Object& spec, const Object& before, FieldErrors& errors) {
  const std::string_view schedule = get_string(spec, "schedule");
  const std::string path = "spec.schedule";
  if (schedule.empty()) return;
  if (const std::string problem = schedule_problem(schedule); !problem.empty()) errors.invalid(path, schedule, problem);
  if (!names_zone(schedule)) return;
  if (!names_zone(get_string(before, "schedule"))) {
    errors.invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (has(spec, "timeZone")) {
    errors.invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

bool is_zone_part(std::string_view part) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_+").find(c) != std::string::npos;
  };
  return !part.empty() && part.size() <= kMostZonePartBytes && part != "." && part != ".." && part[0] != '-' &&
         std::all_of(part.begin(), part.end(), allowed);
}

bool is_zone_name(std::string_view zone) {
  for (;;) {
    const std::size_t slash = zone.find('/');
    if (!is_zone_part(zone.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    zone.remove_prefix(slash + 1);
  }
}

void check_time_zone(const Object& spec, FieldErrors& errors) {
  const Value* found = find(spec, "timeZone");
  if (found == nullptr) return;
  const std::string_view zone = text_of(*found);
  const std::string path = "spec.timeZone";
  if (zone.empty()) return errors.invalid(path, zone, "timeZone must be nil or non-empty string");
  if (!is_zone_name(zone)) return errors.invalid(path, zone, "unknown time zone " + std::string(zone));
  if (lower_case(zone) == "local") {
    errors.invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  if (const std::string problem = time_zone_problem(zone); !problem.empty()) errors.invalid(path, zone, problem);
}

class CronJobStrategy final : public PodHolderStrategy {
 public:
  using PodHolderStrategy::PodHolderStrategy;
  void apply_defaults(Object& object) const override {
    Object& job = ensure_object(ensure_object(ensure_object(object, "spec"), "jobTemplate"), "spec");
    apply_pod_template_defaults(ensure_object(job, "template"));
  }
  void canonicalize(Object& object) const override { canonicalize_job(ensure_object(ensure_object(object, "spec"), "jobTemplate")); }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    Warnings out;
    const Object& spec = object_or_empty(object, "spec");
    if (old == nullptr) warn_of_host_name(object, "Pod names and hostnames", out);
    if (old == nullptr || generation_changed(object, *old)) warn_of_job_spec(job_spec(spec), "spec.jobTemplate.spec", out);
    if (old != nullptr && names_zone(get_string(spec, "schedule"))) out.emplace_back(kZoneText);
    return out;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& job = job_spec(object_or_empty(object, "spec"));
    const Path path("spec.jobTemplate.spec");
    check_job_spec(job, path, errors);
    validate_pod_template(object_or_empty(job, "template"), path.at("template"), options(), errors);
    check_restart_policy(job, path, errors);
    if (!get_bool(job, "manualSelector").value_or(false)) return;
    errors.add({FieldErrorType::kNotSupported, path.at("manualSelector"), R"(Unsupported value: true: supported values: "nil", "false")"});
  }
  void check_new(const Object& object, FieldErrors& errors) const override {
    check_change(object, {}, errors);
    if (meta_name(object).size() > kMostNameBytes) errors.invalid("metadata.name", meta_name(object), kNameText);
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    check_schedule(spec, before, errors);
    if (!same_member(spec, before, "timeZone")) check_time_zone(spec, errors);
  }
};

}  // namespace

KindCode cron_job_code(PodValidationOptions options) { return {.make = made<CronJobStrategy>(options)}; }

}  // namespace backplane::batch

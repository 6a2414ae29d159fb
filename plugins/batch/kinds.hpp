// The group batch/v1: what its kinds do beyond schema/batch_group.json and schema/batch_v1.json.
//
// `options` is what the host's flags say of pods.
// Thread-safety: pure functions on trees of the caller's.
// Errors:        added to FieldErrors in upstream's words.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/kit/group_document.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"

namespace backplane::batch {

// Labels that tell the pods of one job from all others; the last two are their names of long ago.
inline constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kOldControllerUid = "controller-uid";
inline constexpr std::string_view kOldJobName = "job-name";

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> batch_schemas();
// What feature gates let an update of a suspended job change, as long as it has no pods.
struct JobGates {
  bool resources = true;   // MutablePodResourcesForSuspendedJobs
  bool scheduling = true;  // MutableSchedulingDirectivesForSuspendedJobs; off: of jobs that never ran alone
};
// The group: its document with this code.
Result<kit::GroupDocument> batch_group(workload::PodValidationOptions options = {}, JobGates gates = {});

kit::KindCode job_code(workload::PodValidationOptions options, JobGates gates);
kit::KindCode cron_job_code(workload::PodValidationOptions options);
// The storage of jobs, which warns whoever deletes one and says nothing of its pods: they stay.
std::shared_ptr<StandardStorage> make_job_storage(std::shared_ptr<StandardStorage> jobs);
std::shared_ptr<const Strategy> job_status_strategy(std::shared_ptr<const Strategy> parent);
void add_printers(kit::GroupCode& code);

// ---- parts of jobs, each for its own file
// The rules of a JobSpec that cross its fields, but for the pods of its template.
void check_job_spec(const Object& spec, const kit::Path& path, FieldErrors& errors);
// The template, and lists that are stored as none when they are empty; `job`: what holds the JobSpec.
void canonicalize_job(Object& job);
// Which pods a job may be restarted with, asked behind the rules of the template.
void check_restart_policy(const Object& spec, const kit::Path& path, FieldErrors& errors);
// What an update of a job must leave alone; a job that is suspended and has no pods may have another template.
void check_job_change(const Object& job, const Object& old, JobGates gates, FieldErrors& errors);
void warn_of_job_spec(const Object& spec, const kit::Path& path, workload::Warnings& out);

// Whether a condition of the type is True.
bool is_true(const Object& job, std::string_view type);
// A value of the type ("PodFailurePolicy", or of the core group: "PodSpec") as its Go struct is marshalled.
std::string go_text(std::string_view type, const Object& object);
// "Invalid value: why", without the value.
void refuse(std::string path, std::string_view why, FieldErrors& errors);

}  // namespace backplane::batch

// The group batch/v1: behaviour of its kinds beyond schema/batch_group.json and schema/batch_v1.json.
//
// `options`: the host's flags about pods.
// Thread-safety: pure functions on trees of the caller.
// Errors:        added to FieldErrors with upstream's texts.
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

// Labels that identify the pods of one job; the last two are their former names.
inline constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kOldControllerUid = "controller-uid";
inline constexpr std::string_view kOldJobName = "job-name";

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> batch_schemas();
// Fields of a suspended job without pods that feature gates make mutable.
struct JobGates {
  bool resources = true;   // MutablePodResourcesForSuspendedJobs
  bool scheduling = true;  // MutableSchedulingDirectivesForSuspendedJobs; off: only of jobs that never ran
};
// The group: its document with this code.
Result<kit::GroupDocument> batch_group(workload::PodValidationOptions options = {}, JobGates gates = {});

kit::KindCode job_code(workload::PodValidationOptions options, JobGates gates);
kit::KindCode cron_job_code(workload::PodValidationOptions options);
// The storage of jobs: a delete without propagation policy gets a warning that the job's pods remain.
std::shared_ptr<StandardStorage> make_job_storage(std::shared_ptr<StandardStorage> jobs);
std::shared_ptr<const Strategy> job_status_strategy(std::shared_ptr<const Strategy> parent);
void add_printers(kit::GroupCode& code);

// ---- parts of jobs, one source file each
// The rules of a JobSpec that cross its fields, without those of its pod template.
void check_job_spec(const Object& spec, const kit::Path& path, FieldErrors& errors);
// Completes the template, and lists that are not stored if they are empty; `job`: the object with the JobSpec.
void canonicalize_job(Object& job);
// Rules on the restart policy, checked after the rules of the template.
void check_restart_policy(const Object& spec, const kit::Path& path, FieldErrors& errors);
// Rules on immutable fields of a job; a suspended job without pods may change its template.
void check_job_change(const Object& job, const Object& old, JobGates gates, FieldErrors& errors);
void warn_of_job_spec(const Object& spec, const kit::Path& path, workload::Warnings& out);

// Whether a condition of the type is True.
bool is_true(const Object& job, std::string_view type);
// A value of the type ("PodFailurePolicy", or of the core group: "PodSpec"), marshalled like its Go struct.
std::string go_text(std::string_view type, const Object& object);
// "Invalid value: reason", without the value.
void refuse(std::string path, std::string_view why, FieldErrors& errors);

}  // namespace backplane::batch

// The group batch/v1, with the behaviour of its kinds that schema/batch_group.json and schema/batch_v1.json do not describe.
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
// Feature gates that make fields of a suspended job without pods mutable.
struct JobGates {
  bool resources = true;   // MutablePodResourcesForSuspendedJobs
  bool scheduling = true;  // MutableSchedulingDirectivesForSuspendedJobs; if off, the fields are mutable only in jobs that never ran
};
// Returns the document of the group together with the code of its kinds.
Result<kit::GroupDocument> batch_group(workload::PodValidationOptions options = {}, JobGates gates = {});

kit::KindCode job_code(workload::PodValidationOptions options, JobGates gates);
kit::KindCode cron_job_code(workload::PodValidationOptions options);
// The storage of jobs: a delete without propagation policy gets a warning that the job's pods remain.
std::shared_ptr<StandardStorage> make_job_storage(std::shared_ptr<StandardStorage> jobs);
std::shared_ptr<const Strategy> job_status_strategy(std::shared_ptr<const Strategy> parent);
void add_printers(kit::GroupCode& code);

// ---- parts of jobs, one source file each
// Checks the rules of a JobSpec that concern several fields, except the rules of its pod template.
void check_job_spec(const Object& spec, const kit::Path& path, FieldErrors& errors);
// Completes the template, and removes empty lists that are not stored. `job`: the object that contains the JobSpec.
void canonicalize_job(Object& job);
// Rules on the restart policy, checked after the rules of the template.
void check_restart_policy(const Object& spec, const kit::Path& path, FieldErrors& errors);
// Rules on immutable fields of a job; a suspended job without pods may change its template.
void check_job_change(const Object& job, const Object& old, JobGates gates, FieldErrors& errors);
void warn_of_job_spec(const Object& spec, const kit::Path& path, workload::Warnings& out);

// Returns true if a condition of the type is True.
bool is_true(const Object& job, std::string_view type);
// Formats a value of the type ("PodFailurePolicy", or "PodSpec" of the core group) like its Go struct is marshalled.
std::string go_text(std::string_view type, const Object& object);
// Adds the error "Invalid value: WHY", which does not contain the value.
void refuse(std::string path, std::string_view why, FieldErrors& errors);

}  // namespace backplane::batch

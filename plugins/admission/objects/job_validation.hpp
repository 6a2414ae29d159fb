// Admission plugin JobValidation, on by default. With the gate GenericWorkload, it refuses a change of the parallelism of a Job whose pod
// group is scheduled as a gang.
// Source: k8s.io/kubernetes/plugin/pkg/admission/job.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_job_validation(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects

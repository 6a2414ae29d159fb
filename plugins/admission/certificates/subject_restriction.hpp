// The admission plugin CertificateSubjectRestriction: no client certificates for the group system:masters.
//
// Thread-safety: any thread.
// Source:        kubernetes plugin/pkg/admission/certificates/subjectrestriction.
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"

namespace backplane::admission::certificates {

std::shared_ptr<AdmissionPlugin> certificate_subject_restriction();

}  // namespace backplane::admission::certificates

// The group certificates.k8s.io, with the behaviour of its kinds that its documents do not describe.
//
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::certificates {

// Returns the group: schema/certificates_group.json together with its code.
Result<kit::GroupDocument> certificates_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> certificates_schemas();

// ---- CertificateSigningRequest
kit::KindCode signing_request_code();
// The strategy of the subresource /approval.
std::shared_ptr<const Strategy> approval_strategy(std::shared_ptr<const Strategy> parent);
// Prints, for example, "Approved,Issued".
void print_signing_state(const Object& request, std::int64_t now_unix, Array& cells);
// Formats a number of seconds as a duration, such as "60m".
Value show_duration(const Value* seconds, std::int64_t now_unix);

// ---- ClusterTrustBundle
kit::KindCode trust_bundle_code();

// ---- PodCertificateRequest
// `now_unix`: the current time in seconds since the epoch.
kit::KindCode pod_request_code();
void check_pod_request_status(const Object& request, const Object& old, std::int64_t now_unix, FieldErrors& errors);
void print_pod_request_state(const Object& request, std::int64_t now_unix, Array& cells);
// Refuses status changes by users without the right to sign for the signer. `authorizer` outlives the result.
std::shared_ptr<AdmissionPlugin> make_pod_request_signing(Authorizer& authorizer);

}  // namespace backplane::certificates

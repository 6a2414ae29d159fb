// Client certificates. The common name is the user name, organizations are groups, and the subject attribute 1.3.6.1.4.1.57683.2 is the
// uid.
//
// transport/client_trust.hpp verifies the certificate. These functions only convert it to a user.
// Thread-safety: any thread. Each thread caches the users of recent certificates.
// Errors:        kUnauthorized if the client has sent a certificate that is invalid. Also if `with_uid` is set and the certificate has
//                several uids or an empty one.
#pragma once

#include <optional>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

// Returns the user of the client certificate, in the group system:authenticated. Returns nullopt if the client has sent no certificate, or
// one without a common name. `with_uid`: the user gets the uid of the certificate's subject (the feature gate
// AllowParsingUserUIDFromCertAuth).
Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange, bool with_uid);

}  // namespace backplane

// Client certificates: common name → user, organizations → groups, 1.3.6.1.4.1.57683.2 → uid.
//
// The transport verifies the certificate during the handshake; here it only becomes a user.
// Thread-safety: any thread; each keeps the users of the certificates that it saw last.
// Errors:        kUnauthorized for a certificate that was sent and did not verify, or that has several uids or an empty one.
#pragma once

#include <optional>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

// The user of the connection's certificate, in the group system:authenticated; nothing if the client has sent no certificate.
// `with_uid`: the user has the uid of the certificate's subject (the feature gate AllowParsingUserUIDFromCertAuth).
Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange, bool with_uid);

}  // namespace backplane

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

// The user of the connection's certificate, one of those who are authenticated; nothing when the client sent none.
Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange);
// Whether the uid of a subject is looked at (gate AllowParsingUserUIDFromCertAuth; on).  Before anything is served.
void use_certificate_uids(bool use);

}  // namespace backplane

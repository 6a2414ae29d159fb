// Client certificates: common name → user, organizations → groups.
//
// The transport verifies the certificate during the handshake; here it only becomes a user.
// Thread-safety: any thread; each keeps the users of the certificates that it saw last.
// Errors:        kUnauthorized for a certificate that was sent and did not verify, or that names nobody.
#pragma once

#include <optional>

#include "backplane/http.hpp"
#include "backplane/request.hpp"
#include "backplane/status.hpp"

namespace backplane {

// The user of the connection's certificate, one of those who are authenticated; nothing when the client sent none.
Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange);

}  // namespace backplane

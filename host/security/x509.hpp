// Client certificates: common name → user, organizations → groups.
//
// The transport verifies the certificate during the handshake; here it only becomes a user.
// Thread-safety: pure function.
// Errors:        kUnauthorized for a certificate that was sent and did not verify, or that names nobody.
#pragma once

#include <optional>

#include "backplane/http.hpp"
#include "backplane/request.hpp"
#include "backplane/status.hpp"

namespace backplane {

// The user of the connection's certificate; nothing when the client sent none.
Result<std::optional<UserInfo>> user_of_certificate(const Exchange& exchange);

}  // namespace backplane

// Reads bootstrap tokens from Secrets, and signs with them.
//
// Thread-safety: pure functions.
// Errors:        none; the result is nullopt for a secret that does not contain a usable token.
// Source:        k8s.io/cluster-bootstrap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::controllers {

inline constexpr std::string_view kBootstrapTokenType = "bootstrap.kubernetes.io/token";

struct BootstrapToken {
  std::string id, secret;
};
// Returns the token of a secret if the token may sign and has not expired at `now`.
std::optional<BootstrapToken> signing_token(const Object& secret, std::int64_t now);
// Returns the seconds until the token expires; 0 or less if it has expired; nullopt if it never expires.
std::optional<std::int64_t> seconds_to_expiry(const Object& secret, std::int64_t now);
// A JWS of `content` with HS256, without the content: header..signature.
std::string detached_signature(std::string_view content, const BootstrapToken& token);

}  // namespace backplane::controllers

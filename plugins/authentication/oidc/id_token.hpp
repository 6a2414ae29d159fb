// The steps for a JSON Web Token that do not need keys: reading the issuer before the signature is verified, and checking the claims
// afterwards.
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized with the texts of go-oidc.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/oidc, github.com/coreos/go-oidc v2 (verify.go).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::authentication {

// Returns the claim `iss` of a token whose signature has not been verified. It is used only to select the authenticator.
Result<std::string> untrusted_issuer(std::string_view token);

struct IdTokenChecks {
  std::string issuer;
  std::vector<std::string> audiences;  // the token must have one of them
  std::chrono::system_clock::time_point now;
};
// Checks and returns the claims of a payload whose signature has been verified.
Result<Object> check_id_token(std::string_view payload, const IdTokenChecks& checks);

// Formats a list like Go's %q: ["a" "b"].
std::string quoted_texts(const std::vector<std::string>& texts);
// The error of Go's json.Unmarshal into a value of `type`.
std::string cannot_unmarshal(const Value& value, std::string_view type);

}  // namespace backplane::authentication

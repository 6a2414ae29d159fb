// JSON Web Signatures in compact serialization (RFC 7515): header.payload.signature.
//
//   auto jws = kit::parse_jws(token);
//   if (!jws.ok()) …
//   const kit::PublicKey* key = kit::verifying_key(*jws, keys, {kit::JoseAlgorithm::kRS256});
//   if (key == nullptr) …            // jws->payload must not be trusted
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized if a text is not a JWS.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/kit/jose_algorithm.hpp"
#include "backplane/kit/jose_key.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// The maximum size of a token: that of the request headers in Go's HTTP server.
inline constexpr std::size_t kMostTokenBytes = 1 << 20;

// A parsed token. Do not trust its contents before verifying_key() has returned a key.
struct Jws {
  // nullopt for an algorithm that no key supports, such as `none`.
  std::optional<JoseAlgorithm> algorithm;
  std::string algorithm_name;  // `alg` of the token
  std::string key_id;          // `kid`; empty if absent
  bool critical = false;       // the header has `crit`: no extension is supported, so verifying_key() returns null
  std::string payload;
  std::string signing_input;  // encoded header, ".", encoded payload
  std::string signature;
};

// Errors: unless the token has three parts in base64url, a header that is a JSON object whose members `alg` and `kid` are strings, and at
// most kMostTokenBytes.
Result<Jws> parse_jws(std::string_view token);
// Returns the payload of a token without verifying header and signature; nullopt if it is not a JSON object. Use it only to select the
// authenticator by the issuer.
std::optional<Object> unverified_claims(std::string_view token);

// Returns the first key of keys.find(jws.key_id) with which the signature is valid for the token's algorithm; null if there is none, or if
// the algorithm is not in `allowed`. Takes up to a millisecond for each key: call it in run_blocking().
const PublicKey* verifying_key(const Jws& jws, const KeySet& keys, JoseAlgorithms allowed = JoseAlgorithms::all());

// Registered claims (RFC 7519, section 4.1) of a payload.
struct TokenClaims {
  std::string issuer, subject, id;
  std::vector<std::string> audiences;
  // Seconds since 1970; fractions are truncated.
  std::optional<std::int64_t> expires, not_before, issued_at;
};
// Errors: kUnauthorized if a claim has the wrong type; the message names the claim.
Result<TokenClaims> read_claims(const Object& payload);
// Returns a NumericDate in seconds; nullopt if `value` is not a number or exceeds the range.
std::optional<std::int64_t> numeric_date(const Value& value) noexcept;

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

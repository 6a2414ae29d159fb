// JSON Web Signatures in compact serialization (RFC 7515): header.payload.signature.
//
//   auto jws = kit::parse_jws(token);
//   if (!jws.ok()) …
//   const kit::PublicKey* key = kit::verifying_key(*jws, keys, {kit::JoseAlgorithm::kRS256});
//   if (key == nullptr) …            // jws->payload must not be trusted
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized for text that is not a JWS.
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

// Limit of a token: the limit of the request headers in Go's server.
inline constexpr std::size_t kMostTokenBytes = 1 << 20;

// Nothing in it is trusted before verifying_key() has returned a key.
struct Jws {
  // nullopt: an algorithm that no key verifies, such as `none`.
  std::optional<JoseAlgorithm> algorithm;
  std::string algorithm_name;  // `alg` as the token has it
  std::string key_id;          // `kid`; empty if absent
  bool critical = false;       // the header has `crit`; no extension is supported, so no key verifies it
  std::string payload;
  std::string signing_input;  // header.payload, encoded
  std::string signature;
};

// Errors: three parts, base64url, a header that is a JSON object with string members `alg` and `kid`, at most kMostTokenBytes.
Result<Jws> parse_jws(std::string_view token);
// The payload of a token; header and signature are not checked. Used to select the authenticator by the issuer. nullopt if it is not a JSON
// object.
std::optional<Object> unverified_claims(std::string_view token);

// The first key of keys.find(jws.key_id) that verifies the signature by the token's algorithm, which must be in `allowed`; null if there
// is none. Takes up to a millisecond per key: call it in run_blocking().
const PublicKey* verifying_key(const Jws& jws, const KeySet& keys, JoseAlgorithms allowed = JoseAlgorithms::all());

// Registered claims (RFC 7519, section 4.1) of a payload.
struct TokenClaims {
  std::string issuer, subject, id;
  std::vector<std::string> audiences;
  // Seconds since 1970; fractions are cut off.
  std::optional<std::int64_t> expires, not_before, issued_at;
};
// Errors: kUnauthorized for a claim of another type; the message names the claim.
Result<TokenClaims> read_claims(const Object& payload);
// A NumericDate. nullopt if `value` is not a number or does not fit.
std::optional<std::int64_t> numeric_date(const Value& value) noexcept;

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

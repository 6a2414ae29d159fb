#include <cmath>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/base64url.hpp"
#include "backplane/kit/jws.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

struct TokenParts {
  std::string_view header, payload, signature;
};

std::optional<TokenParts> parts_of(std::string_view token) {
  if (token.size() > kMostTokenBytes) return std::nullopt;
  const auto first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return TokenParts{token.substr(0, first), token.substr(first + 1, second - first - 1), token.substr(second + 1)};
}

std::optional<Object> object_in(std::string_view encoded) {
  const auto text = from_base64url(encoded);
  if (!text) return std::nullopt;
  auto value = read_json(*text);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

bool read_text(const Object& object, std::string_view member, std::string& to) {
  const Value* const found = find(object, member);
  if (found == nullptr || found->is_null()) return true;
  if (!found->is_string()) return false;
  to = text_of(*found);
  return true;
}

// Reads a string or a list of strings.
bool read_audiences(const Value& value, std::vector<std::string>& to) {
  if (value.is_string()) {
    to.emplace_back(text_of(value));
    return true;
  }
  if (!value.is_array()) return false;
  for (const Value& each : value.get_array()) {
    if (!each.is_string()) return false;
    to.emplace_back(text_of(each));
  }
  return true;
}

Status wrong_claim(std::string_view claim) { return unauthorized("the claim " + backplane::quoted(claim) + " has the wrong type"); }

}  // namespace

Result<Jws> parse_jws(std::string_view token) {
  const auto parts = parts_of(token);
  if (!parts) return unauthorized("compact JWS format must have three parts");
  const auto header = object_in(parts->header);
  auto payload = from_base64url(parts->payload), signature = from_base64url(parts->signature);
  if (!header || !payload || !signature) return unauthorized("malformed JWS");
  Jws out;
  if (!read_text(*header, "alg", out.algorithm_name) || !read_text(*header, "kid", out.key_id)) return unauthorized("malformed JWS header");
  out.algorithm = jose_algorithm_of(out.algorithm_name);
  out.critical = find(*header, "crit") != nullptr;
  out.payload = std::move(*payload);
  out.signature = std::move(*signature);
  out.signing_input = token.substr(0, parts->header.size() + 1 + parts->payload.size());
  return out;
}

std::optional<Object> unverified_claims(std::string_view token) {
  const auto parts = parts_of(token);
  if (!parts) return std::nullopt;
  return object_in(parts->payload);
}

const PublicKey* verifying_key(const Jws& jws, const KeySet& keys, JoseAlgorithms allowed) {
  if (!jws.algorithm || jws.critical || !allowed.contains(*jws.algorithm)) return nullptr;
  for (const PublicKey* key : keys.find(jws.key_id)) {
    if (key->verify(*jws.algorithm, jws.signing_input, jws.signature)) return key;
  }
  return nullptr;
}

std::optional<std::int64_t> numeric_date(const Value& value) noexcept {
  constexpr double kMost = 9.0e18;
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) return std::nullopt;
  if (!value.is_double() || !(std::abs(value.get_double()) < kMost)) return std::nullopt;
  return static_cast<std::int64_t>(value.get_double());
}

Result<TokenClaims> read_claims(const Object& payload) {
  TokenClaims out;
  const std::pair<std::string_view, std::string TokenClaims::*> texts[] = {
      {"iss", &TokenClaims::issuer}, {"sub", &TokenClaims::subject}, {"jti", &TokenClaims::id}};
  for (const auto& [claim, member] : texts) {
    if (!read_text(payload, claim, out.*member)) return wrong_claim(claim);
  }
  const std::pair<std::string_view, std::optional<std::int64_t> TokenClaims::*> dates[] = {
      {"exp", &TokenClaims::expires}, {"nbf", &TokenClaims::not_before}, {"iat", &TokenClaims::issued_at}};
  for (const auto& [claim, member] : dates) {
    if (!has(payload, claim)) continue;
    out.*member = numeric_date(*find(payload, claim));
    if (!(out.*member)) return wrong_claim(claim);
  }
  if (has(payload, "aud") && !read_audiences(*find(payload, "aud"), out.audiences)) return wrong_claim("aud");
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

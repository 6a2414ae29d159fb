#include "oidc/id_token.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "backplane/kit/base64url.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::authentication {
namespace {

using Time = std::chrono::system_clock::time_point;
constexpr std::string_view kGoogle = "https://accounts.google.com", kGoogleWithoutScheme = "accounts.google.com";
constexpr std::chrono::minutes kNotBeforeLeeway{1};

std::string time_text(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[64];
  if (::gmtime_r(&time, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000 UTC", &parts) == 0) return "?";
  return text;
}

// The claims that go-oidc reads from the payload.
struct ReadClaims {
  std::string issuer;
  std::vector<std::string> audiences;
  std::optional<std::int64_t> expires, not_before;
};

Status malformed(const std::string& why) { return unauthorized("oidc: failed to unmarshal claims: " + why); }

Status read_text(const Object& claims, std::string_view name, std::string& out) {
  const Value* value = find(claims, name);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string()) return malformed(cannot_unmarshal(*value, "Go struct field idToken." + std::string(name) + " of type string"));
  out = value->get_string();
  return {};
}

Status read_audiences(const Object& claims, std::vector<std::string>& out) {
  const Value* value = find(claims, "aud");
  if (value == nullptr) return {};
  if (value->is_string() || value->is_null()) {
    out.emplace_back(value->is_string() ? std::string_view(value->get_string()) : std::string_view());
    return {};
  }
  if (!value->is_array()) return malformed(cannot_unmarshal(*value, "Go value of type []string"));
  for (const Value& each : value->get_array()) {
    if (!each.is_string()) return malformed(cannot_unmarshal(each, "Go value of type string"));
    out.emplace_back(each.get_string());
  }
  return {};
}

// Returns the number. Like Go's json.Number, also accepts a string that contains a number.
std::optional<Value> number_in(const Value& value) {
  if (value.is_number()) return value;
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_string();
  constexpr std::string_view kDigits = "0123456789";
  const bool bare =
      !text.empty() && (text.front() == '-' || kDigits.find(text.front()) != text.npos) && kDigits.find(text.back()) != text.npos;
  auto read = bare ? read_json(text) : std::nullopt;
  return read && read->is_number() ? std::move(read) : std::nullopt;
}

Status no_number(const Value& value) {
  if (!value.is_string()) return malformed(cannot_unmarshal(value, "Go value of type json.Number"));
  return malformed("json: invalid number literal, trying to unmarshal " + backplane::quoted(to_json(value)) + " into Number");
}

// Reads a NumericDate, without fractions. `null`: the meaning of null, which differs: go-oidc stores one of its times in a pointer, and
// parses the others.
enum class NullTime : unsigned char { kIsAbsent, kIsAnError };
Status read_time(const Object& claims, std::string_view name, NullTime null, std::optional<std::int64_t>& out) {
  constexpr double kMost = 9.0e15;
  const Value* value = find(claims, name);
  if (value == nullptr || (value->is_null() && null == NullTime::kIsAbsent)) return {};
  if (value->is_null()) return malformed("strconv.ParseFloat: parsing \"\": invalid syntax");
  const std::optional<Value> number = number_in(*value);
  if (!number) return no_number(*value);
  if (number->is_int64()) {
    out = number->get_int64();
    return {};
  }
  if (!number->is_double() || !(std::abs(number->get_double()) < kMost)) return malformed("a time is out of range");
  out = static_cast<std::int64_t>(number->get_double());
  return {};
}

Status check_sources(const Object& claims) {
  const Object* names = get_object(claims, "_claim_names");
  if (names == nullptr) return {};
  const Object* sources = get_object(claims, "_claim_sources");
  for (const auto& name : *names) {
    if (!name.value().is_string()) return malformed(cannot_unmarshal(name.value(), "Go struct field idToken._claim_names of type string"));
    const std::string_view source = name.value().get_string();
    if (source.empty()) return unauthorized("oidc: failed to obtain source from claim name");
    if (sources == nullptr || find(*sources, source) == nullptr) return unauthorized("oidc: source does not exist");
  }
  return {};
}

Result<ReadClaims> read(const Object& claims) {
  ReadClaims out;
  std::string unused;
  std::optional<std::int64_t> issued;
  Status status = read_text(claims, "iss", out.issuer);
  for (const std::string_view name : {"sub", "nonce", "at_hash"}) {
    if (status.ok()) status = read_text(claims, name, unused);
  }
  if (status.ok()) status = read_audiences(claims, out.audiences);
  if (status.ok()) status = read_time(claims, "exp", NullTime::kIsAnError, out.expires);
  if (status.ok()) status = read_time(claims, "iat", NullTime::kIsAnError, issued);
  if (status.ok()) status = read_time(claims, "nbf", NullTime::kIsAbsent, out.not_before);
  if (status.ok()) status = check_sources(claims);
  if (!status.ok()) return status;
  return out;
}

Status check_audience(const std::vector<std::string>& wanted, const std::vector<std::string>& got) {
  const bool meant = std::any_of(got.begin(), got.end(),
                                 [&](const std::string& each) { return std::find(wanted.begin(), wanted.end(), each) != wanted.end(); });
  if (meant && !wanted.empty()) return {};
  if (wanted.size() == 1) return unauthorized("oidc: expected audience " + backplane::quoted(wanted.front()) + " got " + quoted_texts(got));
  std::vector<std::string> sorted = wanted;
  std::sort(sorted.begin(), sorted.end());
  return unauthorized("oidc: expected audience in " + quoted_texts(sorted) + " got " + quoted_texts(got));
}

Status check_times(const ReadClaims& claims, Time now) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const bool exact = now.time_since_epoch() == std::chrono::seconds(seconds);
  if (!claims.expires) return unauthorized("oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)");
  if (*claims.expires < seconds || (*claims.expires == seconds && !exact))
    return unauthorized("oidc: token is expired (Token Expiry: " + time_text(*claims.expires) + ")");
  constexpr std::int64_t kLeeway = std::chrono::seconds(kNotBeforeLeeway).count();
  if (claims.not_before && *claims.not_before > seconds + kLeeway) {
    return unauthorized("oidc: current time " + time_text(seconds) + " before the nbf (not before) time: " + time_text(*claims.not_before));
  }
  return {};
}

}  // namespace

std::string quoted_texts(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& each : texts) out.append(out.size() == 1 ? "" : " ").append(backplane::quoted(each));
  return out.append("]");
}

std::string cannot_unmarshal(const Value& value, std::string_view type) {
  std::string_view kind = "number";
  if (value.is_array()) kind = "array";
  if (value.is_bool()) kind = "bool";
  if (value.is_object()) kind = "object";
  if (value.is_string()) kind = "string";
  return "json: cannot unmarshal " + std::string(kind) + " into " + std::string(type);
}

Result<std::string> untrusted_issuer(std::string_view token) {
  const std::size_t first = token.find_first_not_of(" \t\r\n\v\f");
  if (first != std::string_view::npos && token[first] == '{') return unauthorized("token is not compact JWT");
  if (std::count(token.begin(), token.end(), '.') != 2) return unauthorized("malformed token");
  const std::size_t begin = token.find('.') + 1;
  const auto payload = kit::from_base64url(token.substr(begin, token.rfind('.') - begin));
  if (!payload) return unauthorized("error decoding token: illegal base64 data");
  const auto claims = read_json(*payload);
  if (!claims || !claims->is_object()) return unauthorized("while unmarshaling token: not a JSON object");
  const Value* issuer = find(claims->get_object(), "iss");
  if (issuer == nullptr || issuer->is_null()) return std::string();
  if (!issuer->is_string())
    return unauthorized("while unmarshaling token: " + cannot_unmarshal(*issuer, "Go struct field .iss of type string"));
  const std::string_view text = issuer->get_string();
  return std::string(text == kGoogleWithoutScheme ? kGoogle : text);
}

Result<Object> check_id_token(std::string_view payload, const IdTokenChecks& checks) {
  auto tree = read_json(payload);
  if (!tree) return malformed("invalid JSON");
  if (!tree->is_object()) return malformed(cannot_unmarshal(*tree, "Go value of type oidc.idToken"));
  Object& claims = tree->get_object();
  auto token = read(claims);
  if (!token.ok()) return std::move(token).status();
  const bool google = checks.issuer == kGoogle && token->issuer == kGoogleWithoutScheme;
  if (token->issuer != checks.issuer && !google) {
    return unauthorized("oidc: id token issued by a different provider, expected " + backplane::quoted(checks.issuer) + " got " +
                        backplane::quoted(token->issuer));
  }
  // go-oidc supports one audience, and checks it before the times. Upstream checks several audiences after the checks of go-oidc.
  const Status audience = check_audience(checks.audiences, token->audiences);
  if (!audience.ok() && checks.audiences.size() == 1) return audience;
  if (Status status = check_times(*token, checks.now); !status.ok()) return status;
  if (!audience.ok()) return audience;
  return std::move(claims);
}

}  // namespace backplane::authentication

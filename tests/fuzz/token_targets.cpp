#include "token_targets.hpp"

#include "backplane/kit/jws.hpp"
#include "backplane/types/json_reading.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

// A token that was signed with the key in kKeys (RFC 7515, A.3). The seeds contain no other valid signature of this key.
constexpr std::string_view kSigned =
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr std::string_view kSignature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
constexpr std::string_view kKeys =
    R"({"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"a","use":"sig"},)"
    R"({"kty":"RSA","kid":"b","alg":"RS256","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrc)"
    R"(S2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS)"
    R"(-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h)"
    R"(4FRWyuXpoQ"},{"kty":"oct","k":"AA"}]})";

const kit::KeySet& fixed_keys() {
  static const kit::KeySet kSet = *kit::KeySet::from_jwks(kKeys);
  return kSet;
}

void check_token(std::string_view token) {
  const auto jws = kit::parse_jws(token);
  const auto claims = kit::unverified_claims(token);
  if (!jws.ok()) return;
  const kit::PublicKey* const key = kit::verifying_key(*jws, fixed_keys());
  FUZZ_REQUIRE(key == nullptr || (jws->algorithm && key->algorithms().contains(*jws->algorithm)));
  FUZZ_REQUIRE(key == nullptr || jws->signing_input == kSigned);
  FUZZ_REQUIRE(jws->algorithm.has_value() || key == nullptr);
  if (claims) (void)kit::read_claims(*claims);
}

void check_keys(std::string_view text) {
  const auto set = kit::KeySet::from_jwks(text);
  if (!set.ok()) return;
  FUZZ_REQUIRE(set->keys().size() <= kit::KeySet::kMostKeys);
  for (const kit::PublicKey& key : set->keys()) {
    FUZZ_REQUIRE(!key.algorithms().empty());
    const auto again = kit::PublicKey::from_jwk(key.jwk());
    FUZZ_REQUIRE(again.ok() && again->der() == key.der() && again->id() == key.id());
    FUZZ_REQUIRE(!key.verify(key.algorithm(), "text", "signature"));
  }
}

}  // namespace

void json_web_tokens(std::string_view bytes) {
  const auto line = std::min(bytes.find('\n'), bytes.size());
  check_token(bytes.substr(0, line));
  if (line < bytes.size()) check_keys(bytes.substr(line + 1));
}

std::string json_web_token_seed() { return std::string(kSigned) + "." + std::string(kSignature) + "\n" + std::string(kKeys); }

void pem_keys(std::string_view bytes) {
  // OpenSSL needs milliseconds for each block, so the input is limited.
  if (bytes.size() > 1024) return;
  for (const kit::PublicKey& key : kit::PublicKey::all_in_pem(bytes)) {
    const auto again = kit::PublicKey::from_der(key.der());
    FUZZ_REQUIRE(again.ok() && again->id() == key.id() && key.id().size() == 43);
  }
}

std::string pem_key_seed() {
  return "-----BEGIN EC PRIVATE KEY-----\n"
         "MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n"
         "AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n"
         "focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n-----END EC PRIVATE KEY-----\n"
         "-----BEGIN PUBLIC KEY-----\n"
         "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
         "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n-----END PUBLIC KEY-----\n";
}

}  // namespace backplane::fuzz

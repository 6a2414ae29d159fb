#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "backplane/kit/base64url.hpp"
#include "backplane/kit/jws.hpp"
#include "backplane/kit/token_signer.hpp"
#include "backplane/net/openssl_ptr.hpp"

namespace backplane::kit {
namespace {

std::string private_pem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::shared_ptr<const TokenSigner> signer_of(EVP_PKEY* made) {
  const KeyPtr key(made);
  return *TokenSigner::from_pem(private_pem(key.get()));
}

KeySet keys_of(const TokenSigner& signer) { return KeySet({signer.public_key()}); }

bool verifies(const std::string& token, const KeySet& keys, JoseAlgorithms allowed = JoseAlgorithms::all()) {
  const auto jws = parse_jws(token);
  return jws.ok() && verifying_key(*jws, keys, allowed) != nullptr;
}

std::string signed_with(const TokenSigner& signer, std::string_view algorithm) {
  return *signer.sign(Object{{"alg", algorithm}, {"kid", signer.key_id()}}, R"({"sub":"a"})");
}

TEST(Base64Url, IsThatOfGo) {
  EXPECT_EQ(to_base64url("\xFB\xFF\xFE"), "-__-");
  EXPECT_EQ(to_base64url("ab"), "YWI");
  EXPECT_EQ(from_base64url("YWI"), "ab");
  EXPECT_EQ(from_base64url(""), "");
  for (const char* text : {"YWI=", "YWI\n", "+//+", "Y", "YWIxY", "YW I"}) EXPECT_FALSE(from_base64url(text)) << text;
}

TEST(TokenSigner, SignsAndVerifiesWithEachKindOfKey) {
  const std::pair<EVP_PKEY*, std::vector<std::string_view>> kinds[] = {
      {EVP_RSA_gen(2048), {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}},
      {EVP_EC_gen("P-256"), {"ES256"}},
      {EVP_EC_gen("P-384"), {"ES384"}},
      {EVP_EC_gen("P-521"), {"ES512"}}};
  for (const auto& [key, algorithms] : kinds) {
    const auto signer = signer_of(key);
    EXPECT_EQ(signer->algorithm(), algorithms.front());
    EXPECT_EQ(signer->key_id().size(), 43U);
    const auto jwks = KeySet::from_jwks(to_json(Object{{"keys", Array{signer->public_key().jwk()}}}));
    ASSERT_TRUE(jwks.ok()) << jwks.status().message();
    for (const std::string_view algorithm : algorithms) {
      const std::string token = signed_with(*signer, algorithm);
      EXPECT_TRUE(verifies(token, keys_of(*signer))) << algorithm;
      EXPECT_EQ(verifies(token, *jwks), algorithm == algorithms.front()) << algorithm << ": a JWK verifies its own algorithm only";
      EXPECT_FALSE(verifies(token, keys_of(*signer), JoseAlgorithms{})) << "not allowed";
      std::string changed = token;
      changed[token.find('.') + 3] ^= 1;
      EXPECT_FALSE(verifies(changed, keys_of(*signer))) << algorithm;
      EXPECT_FALSE(verifies(token.substr(0, token.size() - 8), keys_of(*signer))) << algorithm;
      EXPECT_FALSE(verifies(token.substr(0, token.rfind('.') + 1), keys_of(*signer))) << algorithm;
    }
  }
}

TEST(TokenSigner, RefusesOtherKeys) {
  EXPECT_FALSE(TokenSigner::from_pem("no key").ok());
  EXPECT_NE(TokenSigner::from_file("/absent").status().message().find("cannot read /absent"), std::string::npos);
  for (EVP_PKEY* made : {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_EC_gen("secp256k1"), EVP_RSA_gen(512)}) {
    const KeyPtr key(made);
    EXPECT_FALSE(TokenSigner::from_pem(private_pem(key.get())).ok());
  }
}

// The sender of a token chooses the token's header.
TEST(Jws, TheAlgorithmOfATokenIsNotTrusted) {
  const auto rsa = signer_of(EVP_RSA_gen(2048));
  const auto ec = signer_of(EVP_EC_gen("P-256"));
  const KeySet keys({rsa->public_key(), ec->public_key()});
  const std::string claims = to_base64url(R"({"sub":"system:admin"})");
  const auto unsigned_token = [&](std::string_view header) { return to_base64url(header) + "." + claims + "."; };
  for (const char* name : {"none", "None", "HS256", "EdDSA", "", "rs256"}) {
    EXPECT_FALSE(verifies(unsigned_token(R"({"alg":")" + std::string(name) + R"("})"), keys)) << name;
  }
  EXPECT_FALSE(verifies(unsigned_token("{}"), keys));
  // A valid signature under another algorithm name.
  const std::string token = signed_with(*ec, "ES256");
  const std::string rest = token.substr(token.find('.'));
  EXPECT_FALSE(verifies(to_base64url(R"({"alg":"RS256"})") + rest, keys));
  EXPECT_FALSE(verifies(to_base64url(R"({"alg":"ES384"})") + rest, keys));
  EXPECT_FALSE(rsa->sign(Object{{"alg", "ES256"}}, "{}").ok());
  EXPECT_FALSE(verifies(*ec->sign(Object{{"alg", "ES256"}, {"crit", Array{"b64"}}}, "{}"), keys)) << "no extension is supported";
}

TEST(Jws, KeysAreChosenByTheirIds) {
  const auto first = signer_of(EVP_EC_gen("P-256")), second = signer_of(EVP_EC_gen("P-256"));
  const KeySet keys({first->public_key(), second->public_key()});
  EXPECT_TRUE(verifies(*second->sign(Object{{"alg", "ES256"}}, "{}"), keys)) << "all are tried without an id";
  EXPECT_TRUE(verifies(*second->sign(Object{}), keys));
  EXPECT_FALSE(verifies(*second->sign(Object{{"alg", "ES256"}, {"kid", first->key_id()}}, "{}"), keys));
  EXPECT_FALSE(verifies(*second->sign(Object{{"alg", "ES256"}, {"kid", "unknown"}}, "{}"), keys));
  EXPECT_FALSE(verifies(*first->sign(Object{}), KeySet({second->public_key()})));
  EXPECT_FALSE(verifies(*first->sign(Object{}), KeySet()));
}

TEST(Jws, RefusesOtherText) {
  const std::string header = to_base64url(R"({"alg":"ES256"})");
  for (const std::string& token :
       {std::string(), std::string("a"), std::string("a.b"), header + ".e30.x.y", header + ".e30=.", "!." + header + ".",
        to_base64url("[]") + ".e30.", to_base64url(R"({"alg":1})") + ".e30.", to_base64url(R"({"kid":[]})") + ".e30.",
        to_base64url(std::string(5000, '[')) + ".e30.", header + "." + std::string(kMostTokenBytes, 'a') + "."}) {
    EXPECT_FALSE(parse_jws(token).ok()) << token.substr(0, 80);
  }
  EXPECT_TRUE(parse_jws(header + ".e30.").ok());
  EXPECT_FALSE(unverified_claims(header + ".W10."));
  EXPECT_TRUE(unverified_claims("?.e30.?")) << "header and signature are not read";
}

// The key and the token of RFC 7515, A.3.
TEST(Jws, VerifiesTheExampleOfItsSpecification) {
  const auto keys =
      KeySet::from_jwks(R"({"keys":[{"kty":"oct","k":"AyM1"},{"kty":"EC","crv":"P-256",)"
                        R"("x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",)"
                        R"("d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}]})");
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  EXPECT_EQ(keys->keys().size(), 1U) << "a key of HMAC is none for tokens";
  EXPECT_TRUE(
      verifies("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
               "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
               *keys));
}

TEST(KeySet, RefusesMalformedKeys) {
  const std::string good_x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", good_y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
  const auto one = [](const std::string& members) { return KeySet::from_jwks(R"({"keys":[{)" + members + "}]}"); };
  EXPECT_FALSE(KeySet::from_jwks("").ok());
  EXPECT_FALSE(KeySet::from_jwks("[]").ok());
  EXPECT_FALSE(KeySet::from_jwks(R"({"keys":[1]})").ok());
  EXPECT_FALSE(one(R"("kty":"EC","crv":"P-256","x":")" + good_x + R"(","y":")" + good_x + '"').ok()) << "not on the curve";
  EXPECT_FALSE(one(R"("kty":"EC","crv":"P-384","x":")" + good_x + R"(","y":")" + good_y + '"').ok()) << "too short";
  EXPECT_FALSE(one(R"("kty":"RSA","n":"AQAB","e":"AQAB")").ok()) << "24 bits";
  EXPECT_FALSE(one(R"("kty":"EC","alg":"RS256","crv":"P-256","x":")" + good_x + R"(","y":")" + good_y + '"').ok());
  for (const char* skipped : {R"("kty":"OKP","crv":"Ed25519","x":"AA")", R"("kty":"RSA","use":"enc","n":"AA","e":"AA")",
                              R"("kty":"RSA","alg":"RSA-OAEP")", R"("kty":"EC","crv":"secp256k1")"}) {
    const auto keys = one(skipped);
    EXPECT_TRUE(keys.ok() && keys->empty()) << skipped;
  }
}

TEST(PublicKey, IsReadFromDerAndPem) {
  const auto signer = signer_of(EVP_RSA_gen(2048));
  const auto key = PublicKey::from_der(signer->public_key().der());
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->id(), signer->key_id());
  EXPECT_FALSE(PublicKey::from_der(signer->public_key().der() + "x").ok());
  EXPECT_FALSE(PublicKey::from_der("").ok());
  EXPECT_TRUE(PublicKey::all_in_pem("-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----\n-----BEGIN").empty());
}

TEST(TokenClaims, HaveTheirTypes) {
  const auto claims = [](std::string_view text) { return read_claims(json::parse(text).get_object()); };
  const auto read = claims(R"({"iss":"i","sub":"s","jti":"j","aud":["a","b"],"exp":1.9,"nbf":2,"iat":-3})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->expires, 1);
  EXPECT_EQ(read->not_before, 2);
  EXPECT_EQ(read->issued_at, -3);
  EXPECT_EQ(read->audiences, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(claims(R"({"aud":"a"})")->audiences, std::vector<std::string>{"a"});
  for (const char* wrong : {R"({"iss":1})", R"({"exp":"1"})", R"({"exp":1e300})", R"({"exp":18446744073709551615})", R"({"aud":[1]})",
                            R"({"aud":{}})", R"({"nbf":[]})"}) {
    EXPECT_FALSE(claims(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace backplane::kit

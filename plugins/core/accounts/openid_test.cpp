#include "accounts/openid.hpp"

#include <gtest/gtest.h>

#include "backplane/core/json.hpp"
#include "backplane/kit/jose_key.hpp"

namespace backplane::core {
namespace {

TEST(OpenId, IssuersMustBeSecure) {
  const auto why = [](const std::string& issuer) { return openid_documents(issuer, "https://x/openid/v1/jwks", {}).status().message(); };
  EXPECT_EQ(why("kubernetes"), "issuer URL must use https scheme, got: kubernetes");
  EXPECT_EQ(why("https://x?a"), "issuer URL may not include a query, got: https://x?a");
  EXPECT_EQ(why("https://x#a"), "issuer URL may not include a fragment, got: https://x#a");
  EXPECT_EQ(why("https://x"), "no keys provided for validating keyset");
}

TEST(OpenId, KeysOfEveryFormArePublishedWithoutTheirSecrets) {
  // The key pair of RFC 7515, appendix A.3: the private key and the public key.
  const std::string text =
      "-----BEGIN EC PRIVATE KEY-----\n"
      "MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n"
      "AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n"
      "focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n-----END EC PRIVATE KEY-----\n";
  std::vector<Object> keys;
  for (const kit::PublicKey& key : kit::PublicKey::all_in_pem(text + text)) keys.push_back(key.jwk());
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(get_string(keys[0], "x"), "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
  EXPECT_EQ(get_string(keys[0], "y"), "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
  EXPECT_EQ(get_string(keys[0], "crv"), "P-256");
  EXPECT_EQ(keys[0].if_contains("d"), nullptr);
  const auto documents = openid_documents("https://issuer", "https://x/openid/v1/jwks", keys);
  EXPECT_EQ(
      documents->configuration,
      R"({"issuer":"https://issuer","jwks_uri":"https://x/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]})");
}

}  // namespace
}  // namespace backplane::core

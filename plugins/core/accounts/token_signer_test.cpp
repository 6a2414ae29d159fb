#include "accounts/token_signer.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "backplane/types/base64.hpp"

namespace backplane::core {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string pem_of(const Key& key) {
  BIO* bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

std::string from_url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0) text.push_back('=');
  return from_base64(text).value_or("?");
}

// As JWS has it: two numbers of equal length, for OpenSSL in DER.
std::string der_of(const std::string& plain) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(plain.data());
  const int half = static_cast<int>(plain.size() / 2);
  ECDSA_SIG* signature = ECDSA_SIG_new();
  ECDSA_SIG_set0(signature, BN_bin2bn(bytes, half, nullptr), BN_bin2bn(bytes + half, half, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature, &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  ECDSA_SIG_free(signature);
  return out;
}

bool verifies(const Key& key, const EVP_MD* digest, const std::string& token, bool ec) {
  const auto dot = token.rfind('.');
  std::string signature = from_url(token.substr(dot + 1));
  if (ec) signature = der_of(signature);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, digest, nullptr, key.get());
  const int good = EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                                    reinterpret_cast<const unsigned char*>(token.data()), dot);
  EVP_MD_CTX_free(context);
  return good == 1;
}

void expect_good(Key key, const EVP_MD* digest, std::string_view algorithm) {
  const auto signer = TokenSigner::from_pem(pem_of(key));
  ASSERT_TRUE(signer.ok()) << signer.status().message();
  const auto token = (*signer)->sign(Object{{"sub", "somebody"}});
  ASSERT_TRUE(token.ok());
  const std::string header = from_url(token->substr(0, token->find('.')));
  EXPECT_EQ(header, R"({"alg":")" + std::string(algorithm) + R"(","kid":")" + (*signer)->key_id() + "\"}");
  EXPECT_EQ((*signer)->key_id().size(), 43U);
  EXPECT_TRUE(verifies(key, digest, *token, algorithm[0] == 'E'));
  std::string other = *token;
  other[token->find('.') + 2] ^= 1;
  EXPECT_FALSE(verifies(key, digest, other, algorithm[0] == 'E'));
}

TEST(TokenSigner, SignsWithEachKindOfKey) {
  expect_good(Key(EVP_EC_gen("P-256"), EVP_PKEY_free), EVP_sha256(), "ES256");
  expect_good(Key(EVP_EC_gen("P-384"), EVP_PKEY_free), EVP_sha384(), "ES384");
  expect_good(Key(EVP_EC_gen("P-521"), EVP_PKEY_free), EVP_sha512(), "ES512");
  expect_good(Key(EVP_RSA_gen(2048), EVP_PKEY_free), EVP_sha256(), "RS256");
}

TEST(TokenSigner, RefusesWhatIsNoKey) {
  EXPECT_FALSE(TokenSigner::from_pem("no key").ok());
  EXPECT_NE(TokenSigner::from_file("/absent").status().message().find("cannot read /absent"), std::string::npos);
  const Key other(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  EXPECT_FALSE(TokenSigner::from_pem(pem_of(other)).ok());
}

}  // namespace
}  // namespace backplane::core

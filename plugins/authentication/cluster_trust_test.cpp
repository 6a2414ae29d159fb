#include "cluster_trust.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "legacy_tokens.hpp"

namespace backplane::authentication {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;

// Returns a self-signed certificate that is valid until `not_after`.
std::string certificate(const char* name, std::int64_t not_after) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  ASN1_TIME_set(X509_getm_notBefore(made), static_cast<time_t>(not_after - 1000));
  ASN1_TIME_set(X509_getm_notAfter(made), static_cast<time_t>(not_after));
  X509_set_pubkey(made, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(made));
  X509_sign(made, key, EVP_sha256());
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, made);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string out(text, static_cast<std::size_t>(size));
  BIO_free(bio);
  X509_free(made);
  EVP_PKEY_free(key);
  return out;
}

TEST(ClusterTrust, CertificatesOfAllServersStandTogetherOnce) {
  const std::string a = certificate("a", kNow + 100), b = certificate("b", kNow - 100), old = certificate("old", kNow - 1000);
  TrustInfo ours, theirs;
  ours.client_ca = a + b;
  theirs.client_ca = old + b;
  const auto all = combined(ours, theirs, kNow);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_EQ(all->client_ca, b + a) << "b is within the slack";
  ours.client_ca = "no certificate";
  EXPECT_FALSE(combined(ours, theirs, kNow).ok());
}

TEST(ClusterTrust, HeadersArePublishedOnlyWithTheAuthorityOfTheirProxy) {
  TrustInfo ours, theirs;
  ours.user_headers = {"X-Remote-User", "X-Mine"};
  theirs.user_headers = {"X-Theirs", "X-Remote-User"};
  auto all = combined(ours, theirs, kNow);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->user_headers, (std::vector<std::string>{"X-Theirs", "X-Remote-User", "X-Mine"}));
  EXPECT_EQ(to_json(trust_data(*all)), "{}") << "without an authority no proxy is trusted";
  all->proxy_ca = "pem";
  EXPECT_EQ(to_json(trust_data(*all)),
            R"({"requestheader-client-ca-file":"pem","requestheader-username-headers":"[\"X-Theirs\",\"X-Remote-User\",\"X-Mine\"]",)"
            R"("requestheader-group-headers":"[]","requestheader-extra-headers-prefix":"[]","requestheader-allowed-names":"[]"})");
}

TEST(ClusterTrust, ReadsWhatItWrites) {
  TrustInfo trust;
  trust.client_ca = "c";
  trust.proxy_ca = "p";
  trust.uid_headers = {"X-Uid"};
  trust.allowed_names = {"front-proxy-client"};
  const auto read = read_trust(trust_data(trust));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_json(trust_data(*read)), to_json(trust_data(trust)));
  Object broken;
  broken["requestheader-allowed-names"] = "{";
  EXPECT_FALSE(read_trust(broken).ok());
}

TEST(LegacyTokens, DatesAreDays) {
  EXPECT_TRUE(is_date("2024-02-29"));
  for (const char* text : {"", "2024-02-30", "2024-2-9", "2024-02-29T00:00:00Z", "yesterday!"}) EXPECT_FALSE(is_date(text)) << text;
}

}  // namespace
}  // namespace backplane::authentication

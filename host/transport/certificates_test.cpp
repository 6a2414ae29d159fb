#include "transport/certificates.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "transport/openssl_ptr.hpp"
#include "transport/serving_options.hpp"

namespace backplane {
namespace {

class Certificates : public testing::Test {
 protected:
  Certificates() {
    std::string pattern = testing::TempDir() + "backplane-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Certificates() override { std::filesystem::remove_all(folder_); }
  KeyPairFiles files(const std::string& name) const { return {folder_ + "/pki/" + name + ".crt", folder_ + "/pki/" + name + ".key"}; }
  static CertificateSpec authority() {
    return {.use = CertificateUse::kAuthority, .common_name = "test-ca", .lifetime = std::chrono::hours(24 * 3650)};
  }
  static CertificateSpec server() {
    return {.use = CertificateUse::kServer, .common_name = "server", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1", "0:0::1"}};
  }

  std::string folder_;
};

TEST_F(Certificates, ArePrivateKeptAndNamed) {
  auto ca = ensure_certificate(files("ca"), authority(), nullptr);
  ASSERT_TRUE(ca.ok()) << ca.status().message();
  auto first = ensure_certificate(files("server"), server(), &*ca);
  ASSERT_TRUE(first.ok()) << first.status().message();
  auto again = ensure_certificate(files("server"), server(), &*ca);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(first->certificate_pem, again->certificate_pem);
  struct stat what {};
  ASSERT_EQ(::stat(files("server").key.c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder_ + "/pki").c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0700u);
  EXPECT_EQ(certificate_problem(*first, server(), &*ca), "");
}

TEST_F(Certificates, AreMadeAgainWhenTheyNoLongerServe) {
  auto ca = ensure_certificate(files("ca"), authority(), nullptr);
  auto first = ensure_certificate(files("server"), server(), &*ca);
  ASSERT_TRUE(ca.ok() && first.ok());
  auto more_names = server();
  more_names.ip_addresses.push_back("10.0.0.1");
  EXPECT_EQ(certificate_problem(*first, more_names, &*ca), "it is not for 10.0.0.1");
  auto second = ensure_certificate(files("server"), more_names, &*ca);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first->certificate_pem, second->certificate_pem);
  EXPECT_EQ(certificate_problem(*second, more_names, &*ca), "");

  auto other_ca = issue_certificate(authority(), nullptr);
  ASSERT_TRUE(other_ca.ok());
  EXPECT_EQ(certificate_problem(*second, more_names, &*other_ca), "another certificate authority has signed it");
  KeyPair mixed{first->certificate_pem, second->key_pem};
  EXPECT_EQ(certificate_problem(mixed, server(), &*ca), "key and certificate do not belong together");
  auto expired = server();
  expired.lifetime = std::chrono::hours(0);
  auto old = issue_certificate(expired, &*ca);
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(certificate_problem(*old, server(), &*ca), "it has expired or expires soon");
  auto admin = server();
  admin.common_name = "admin";
  EXPECT_EQ(certificate_problem(*second, admin, &*ca), "it has another subject");
  EXPECT_EQ(certificate_problem({"x", "y"}, server(), &*ca), "cannot be read");
}

TEST_F(Certificates, AWrongAddressIsAnErrorAndWritesNothing) {
  auto spec = server();
  spec.ip_addresses = {"not an address"};
  EXPECT_FALSE(ensure_certificate(files("bad"), spec, nullptr).ok());
  EXPECT_FALSE(std::filesystem::exists(files("bad").key));
}

TEST_F(Certificates, ErrorsOfOpensslAreMessages) {
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, nullptr);  // loads the messages of SSL's error reasons
  EXPECT_EQ(openssl_error(), "unknown TLS error");
  ERR_raise(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER);
  EXPECT_EQ(openssl_error(), "the peer does not use TLS");
  ERR_raise(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH);
  EXPECT_EQ(openssl_error(), "the private key does not belong to the certificate");
  ERR_raise(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_UNKNOWN_CA);
  EXPECT_EQ(openssl_error(), "the peer reports: unknown ca");
  ERR_raise(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED);
  EXPECT_EQ(openssl_error(), "certificate verify failed") << "OpenSSL's own words where they say what it is";
  EXPECT_EQ(openssl_error(), "unknown TLS error") << "the queue is empty again";
}

TEST_F(Certificates, TheUidsOfASubjectAreFound) {
  const X509Ptr certificate(X509_new());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const auto& [type, value] :
       {std::pair("CN", "jane"), std::pair("1.3.6.1.4.1.57683.2", "u-1"), std::pair("1.3.6.1.4.1.57683.2", "")}) {
    ASSERT_EQ(X509_NAME_add_entry_by_txt(subject, type, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value), -1, -1, 0), 1);
  }
  const PeerCertificate described = describe_certificate(certificate.get());
  EXPECT_EQ(described.common_name, "jane");
  EXPECT_EQ(described.user_ids, (std::vector<std::string>{"u-1", ""}));
}

TEST_F(Certificates, AlternativeNamesSerialIssuerAndExpiryAreFound) {
  const X509Ptr certificate(X509_new());
  X509_NAME* const issuer = X509_get_issuer_name(certificate.get());
  for (const auto& [type, value] : {std::pair("O", "Exämple, Inc."), std::pair("CN", "ca")}) {
    ASSERT_EQ(X509_NAME_add_entry_by_txt(issuer, type, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value), -1, -1, 0), 1);
  }
  ASSERT_EQ(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), 0xA1B2C3), 1);
  ASSERT_NE(ASN1_TIME_set(X509_getm_notAfter(certificate.get()), 2'000'000'000), nullptr);
  constexpr char kNames[] = "DNS:b.example,DNS:a.example,email:jane@example.com,IP:10.0.0.1,IP:fd00::1,URI:spiffe://example/jane";
  X509_EXTENSION* const extension = X509V3_EXT_nconf_nid(nullptr, nullptr, NID_subject_alt_name, kNames);
  ASSERT_NE(extension, nullptr);
  ASSERT_EQ(X509_add_ext(certificate.get(), extension, -1), 1);
  X509_EXTENSION_free(extension);
  const PeerCertificate described = describe_certificate(certificate.get());
  EXPECT_EQ(described.dns_names, (std::vector<std::string>{"b.example", "a.example"}));
  EXPECT_EQ(described.email_addresses, (std::vector<std::string>{"jane@example.com"}));
  EXPECT_EQ(described.ip_addresses, (std::vector<std::string>{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(described.uris, (std::vector<std::string>{"spiffe://example/jane"}));
  EXPECT_EQ(described.serial_number, "A1B2C3");
  EXPECT_EQ(described.issuer, "CN=ca,O=Exämple\\, Inc.");
  EXPECT_EQ(described.not_after, std::chrono::system_clock::from_time_t(2'000'000'000));
}

TEST_F(Certificates, AFolderThatCannotBeWrittenIsAnErrorThatNamesIt) {
  ASSERT_TRUE(write_file_atomically(folder_ + "/file", "x", 0600).ok());
  const Status status = write_file_atomically(folder_ + "/file/below", "x", 0600);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find(folder_ + "/file"), std::string::npos);
}

TEST(ServingOptions, EveryMistakeIsReported) {
  ServingOptions options;
  options.certificate.certificate = "only.crt";
  options.min_tls_version = "VersionTLS9";
  options.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_AES_128_GCM_SHA256",
                           "TLS_NONSENSE"};
  options.sni_certificates.push_back({.files = {"a.crt", ""}, .names = {}});
  options.limits.h2_max_frame_size = 1;
  const auto problems = validate(options);
  EXPECT_EQ(problems.size(), 5u);
  EXPECT_EQ(problems[2], "Cipher suite TLS_NONSENSE not supported or doesn't exist");
  EXPECT_EQ(openssl_cipher_name("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"), "ECDHE-ECDSA-AES256-GCM-SHA384");
}

}  // namespace
}  // namespace backplane

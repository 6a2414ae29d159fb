#include "app/pki.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace backplane {
namespace {

class Pki : public testing::Test {
 protected:
  Pki() {
    std::string pattern = testing::TempDir() + "backplane-XXXXXX";
    options_.backplane.data_dir = mkdtemp(pattern.data());
    options_.secure_serving.cert_dir = folder();
  }
  ~Pki() override { std::filesystem::remove_all(options_.backplane.data_dir); }

  std::string folder() const { return options_.backplane.data_dir + "/pki"; }
  std::string text(const std::string& name) const { return *read_file(folder() + "/" + name); }
  std::string kubeconfig() const { return *read_file(options_.backplane.data_dir + "/admin.kubeconfig"); }
  // Replaces a pair by one with the same names that expires in an hour.
  KeyPair age(const std::string& name, CertificateSpec spec, const KeyPair& authority) const {
    spec.lifetime = std::chrono::hours(1);
    auto pair = issue_certificate(spec, &authority);
    EXPECT_TRUE(write_file_atomically(folder() + "/" + name + ".crt", pair->certificate_pem, 0600).ok());
    EXPECT_TRUE(write_file_atomically(folder() + "/" + name + ".key", pair->key_pem, 0600).ok());
    return *pair;
  }

  Options options_;
};

TEST_F(Pki, ARunningServerRenewsItsCertificatesBeforeTheyExpire) {
  auto made = prepare_pki(options_);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ServerPki pki = std::move(*made);
  ASSERT_TRUE(write_admin_kubeconfig(options_, pki, 6443).ok());
  const std::string first = kubeconfig(), serving = text("apiserver.crt");
  auto renewed = renew_certificates(options_, pki, 6443);
  ASSERT_TRUE(renewed.ok()) << renewed.status().message();
  EXPECT_FALSE(*renewed);
  EXPECT_EQ(kubeconfig(), first);
  EXPECT_EQ(text("apiserver.crt"), serving);

  CertificateSpec admin;
  admin.use = CertificateUse::kClient;
  admin.common_name = "kubernetes-admin";
  admin.organizations = {"system:masters"};
  pki.admin = age("admin", admin, pki.authority);
  renewed = renew_certificates(options_, pki, 6443);
  ASSERT_TRUE(renewed.ok() && *renewed);
  EXPECT_EQ(text("admin.crt"), pki.admin.certificate_pem);
  EXPECT_EQ(certificate_problem(pki.admin, admin, &pki.authority), "");
  EXPECT_NE(kubeconfig(), first);
  EXPECT_EQ(text("apiserver.crt"), serving);

  CertificateSpec server;
  server.use = CertificateUse::kServer;
  server.common_name = "kube-apiserver";
  const KeyPair aged = age("apiserver", server, pki.authority);
  renewed = renew_certificates(options_, pki, 6443);
  ASSERT_TRUE(renewed.ok() && *renewed);
  EXPECT_NE(text("apiserver.crt"), aged.certificate_pem);
  EXPECT_TRUE(is_issued_by(text("apiserver.crt"), pki.authority));
  renewed = renew_certificates(options_, pki, 6443);
  ASSERT_TRUE(renewed.ok());
  EXPECT_FALSE(*renewed);
}

TEST_F(Pki, ACertificateOfAnotherAuthorityIsNotRenewed) {
  CertificateSpec spec;
  spec.use = CertificateUse::kAuthority;
  spec.common_name = "other";
  auto other = issue_certificate(spec, nullptr);
  ASSERT_TRUE(other.ok());
  options_.secure_serving.cert_dir = options_.backplane.data_dir + "/certificates";
  const KeyPairFiles files{options_.secure_serving.cert_dir + "/apiserver.crt", options_.secure_serving.cert_dir + "/apiserver.key"};
  ASSERT_TRUE(write_file_atomically(files.certificate, other->certificate_pem, 0600).ok());
  ASSERT_TRUE(write_file_atomically(files.key, other->key_pem, 0600).ok());
  auto made = prepare_pki(options_);
  ASSERT_TRUE(made.ok()) << made.status().message();
  auto renewed = renew_certificates(options_, *made, 6443);
  ASSERT_TRUE(renewed.ok()) << renewed.status().message();
  EXPECT_FALSE(*renewed);
  EXPECT_EQ(*read_file(files.certificate), other->certificate_pem);
}

}  // namespace
}  // namespace backplane

#include <gtest/gtest.h>

#include "certificates/request_subject.hpp"
#include "certificates/requests_for_test.hpp"
#include "certificates/signing_requests.hpp"
#include "certificates/subject_restriction.hpp"
#include "certificates/trust_bundles.hpp"
#include "common/plugin_test_kit.hpp"

namespace backplane::admission::certificates {
namespace {

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() { authorizer_.resource = "signers"; }
  static TestWrite request_update(std::string subresource, const std::string& status, const std::string& old_status) {
    TestWrite write{.operation = AdmissionOperation::kUpdate, .resource = {"certificates.k8s.io", "v1", "certificatesigningrequests"}};
    write.subresource = std::move(subresource);
    write.name = "r";
    write.object = R"({"spec":{"signerName":"other.io/new"},"status":)" + status + "}";
    write.old = R"({"spec":{"signerName":"abc.com/xyz"},"status":)" + old_status + "}";
    return write;
  }
  std::string message(const AdmissionPlugin& plugin, const TestWrite& write) { return test_.message(plugin, write); }
  void grant(std::string verb, std::string name) {
    authorizer_.verb = std::move(verb);
    authorizer_.granted = std::move(name);
  }

  PluginUnderTest test_;
  OneRight authorizer_;
};

constexpr const char* kForbidden = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: ";

TEST_F(CertificatesTest, ApprovalNeedsTheStoredSigner) {
  const auto plugin = certificate_approval(authorizer_);
  EXPECT_TRUE(!plugin->mutates() && plugin->validates() && plugin->handles(AdmissionOperation::kUpdate));
  EXPECT_FALSE(plugin->handles(AdmissionOperation::kCreate));
  const TestWrite write = request_update("approval", "{}", "{}");
  for (const bool waits : {false, true}) {
    authorizer_.waits = waits;
    grant("approve", "other.io/new");
    EXPECT_EQ(message(*plugin, write), std::string(kForbidden) + "user not permitted to approve requests with signerName \"abc.com/xyz\"");
    grant("sign", "abc.com/xyz");
    EXPECT_NE(message(*plugin, write), "");
    for (const char* name : {"abc.com/xyz", "abc.com/*"}) {
      grant("approve", name);
      EXPECT_EQ(message(*plugin, write), "") << name;
    }
  }
  authorizer_.error = internal_error("broken");
  EXPECT_NE(message(*plugin, write), "");
  grant("approve", "nothing");
  EXPECT_EQ(message(*plugin, request_update("status", "{}", "{}")), "");
  EXPECT_EQ(message(*plugin, request_update("", "{}", "{}")), "");
}

TEST_F(CertificatesTest, SigningNeedsTheSignerIfTheOutcomeChanges) {
  const auto plugin = certificate_signing(authorizer_);
  const std::string refused = std::string(kForbidden) + "user not permitted to sign requests with signerName \"abc.com/xyz\"";
  struct Row {
    const char *status, *old;
    bool needs_right;
  };
  for (const Row& row :
       {Row{"{}", "{}", false}, Row{R"({"conditions":[]})", "{}", false},
        Row{R"({"certificate":"YQ=="})", R"({"certificate":"YQ=="})", false}, Row{R"({"certificate":"YQ=="})", "{}", true},
        Row{R"({"conditions":[{"type":"Failed"}]})", "{}", true}, Row{"{}", R"({"conditions":[{"type":"Failed"}]})", true}}) {
    grant("sign", "nothing");
    EXPECT_EQ(message(*plugin, request_update("status", row.status, row.old)), row.needs_right ? refused : "") << row.status << row.old;
    grant("sign", "abc.com/*");
    EXPECT_EQ(message(*plugin, request_update("status", row.status, row.old)), "");
  }
  EXPECT_EQ(message(*plugin, request_update("approval", R"({"certificate":"YQ=="})", "{}")), "");
}

// ---- trust bundles

TestWrite bundle_write(std::string signer, std::string members = "") {
  TestWrite write{.resource = {"certificates.k8s.io", "v1beta1", "clustertrustbundles"}, .name = "b"};
  write.object = R"({"metadata":{"name":"b")" + std::move(members) + R"(},"spec":{"signerName":")" + std::move(signer) + R"("}})";
  return write;
}

TEST_F(CertificatesTest, AttestNeedsTheSignerOfTheBundle) {
  const auto plugin = cluster_trust_bundle_attest(authorizer_, true);
  const std::string refused =
      "clustertrustbundles.certificates.k8s.io \"b\" is forbidden: user not permitted to attest for signerName \"a.io/b\"";
  EXPECT_EQ(message(*plugin, bundle_write("a.io/b")), refused);
  EXPECT_EQ(message(*plugin, bundle_write("")), "");
  EXPECT_EQ(message(*cluster_trust_bundle_attest(authorizer_, false), bundle_write("a.io/b")), "");
  TestWrite update = bundle_write("a.io/b", R"(,"finalizers":["x"],"ownerReferences":[{"name":"o"}],"managedFields":[])");
  update.operation = AdmissionOperation::kUpdate;
  update.old = bundle_write("a.io/b").object;
  EXPECT_EQ(message(*plugin, update), "");
  update.object = bundle_write("a.io/b", R"(,"labels":{"a":"b"})").object;
  EXPECT_EQ(message(*plugin, update), refused);
  grant("attest", "a.io/*");
  EXPECT_EQ(message(*plugin, update), "");
}

// ---- subjects

TestWrite new_request(std::string signer, std::string_view request) {
  TestWrite write{.resource = {"certificates.k8s.io", "v1", "certificatesigningrequests"}, .name = "r"};
  write.object = R"({"spec":{"signerName":")" + std::move(signer) + R"(","request":")" + std::string(request) + R"("}})";
  return write;
}

TEST_F(CertificatesTest, NoClientCertificateIsForMasters) {
  const auto plugin = certificate_subject_restriction();
  const std::string client = "kubernetes.io/kube-apiserver-client";
  EXPECT_EQ(message(*plugin, new_request(client, kMastersRequest)),
            std::string(kForbidden) + "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  EXPECT_EQ(message(*plugin, new_request(client, kNodeCertificateRequest)), "");
  EXPECT_EQ(message(*plugin, new_request("kubernetes.io/kubelet-serving", kMastersRequest)), "");
  EXPECT_EQ(message(*plugin, new_request(client, "bm90aGluZw==")),
            std::string(kForbidden) + "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST");
}

TEST(RequestSubject, HasOrganizationsAndTheCommonName) {
  const auto subject = read_request_subject(kMastersRequest);
  ASSERT_TRUE(subject.ok()) << subject.status().message();
  EXPECT_EQ(subject->organizations, (std::vector<std::string>{"system:masters", "b"}));
  EXPECT_EQ(subject->common_name, "x");
}

TEST_F(CertificatesTest, NoOtherEncodingHidesMasters) {
  EXPECT_EQ(message(*certificate_subject_restriction(), new_request("kubernetes.io/kube-apiserver-client", kWideRequest)),
            std::string(kForbidden) + "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
}

TEST(RequestSubject, HasTheTextsThatGoReads) {
  const auto wide = read_request_subject(kWideRequest);
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(wide->organizations, std::vector<std::string>{"system:masters"});
  EXPECT_EQ(wide->common_name, "x\u00F6\u20AC");
  EXPECT_EQ(read_request_subject(kBitStringRequest)->common_name, "system:node:other");
}

}  // namespace
}  // namespace backplane::admission::certificates

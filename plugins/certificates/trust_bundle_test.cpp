#include <gtest/gtest.h>

#include "backplane/types/names.hpp"
#include "backplane/workload/signer_name.hpp"
#include "keys_for_test.hpp"
#include "kinds.hpp"
#include "pem.hpp"

namespace backplane::certificates {
namespace {

using testing::certificate_der;
using testing::pem;

std::string authority(std::int64_t end = 2'000'000'000) { return pem("CERTIFICATE", certificate_der(testing::ec_key(), {true, 0, end})); }

Object bundle(std::string_view name, std::string_view signer, std::string_view text) {
  Object out;
  out["metadata"].emplace_object()["name"] = name;
  Object& spec = out["spec"].emplace_object();
  if (!signer.empty()) spec["signerName"] = signer;
  spec["trustBundle"] = text;
  return out;
}

std::string problems(const Object& object, const Object* old = nullptr) {
  const auto strategy = certificates_group()->kind("ClusterTrustBundle").strategy();
  RequestContext context;
  FieldErrors errors;
  if (old != nullptr) {
    strategy->validate_update(context, object, *old, errors);
  } else {
    strategy->validate(context, object, errors);
  }
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(TrustBundles, HoldAuthorities) {
  const std::string one = authority();
  EXPECT_EQ(problems(bundle("b", "", "a comment\n" + one + authority())), "");
  EXPECT_EQ(problems(bundle("b", "", "nothing")),
            R"(spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided)");
  EXPECT_EQ(problems(bundle("b", "", one + authority() + one)),
            R"(spec.trustBundle: Invalid value: "<value omitted>": duplicate trust anchor (indices [0 2]))");
  EXPECT_EQ(problems(bundle("b", "", one + pem("CERTIFICATE", certificate_der(testing::ec_key(), {})))),
            R"(spec.trustBundle: Invalid value: "<value omitted>": entry 1 does not have the CA bit set)");
  EXPECT_EQ(problems(bundle("b", "", pem("PUBLIC KEY", "x") + pem("CERTIFICATE", "x"))),
            R"([spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: PUBLIC KEY, )"
            R"(spec.trustBundle: Invalid value: "<value omitted>": entry 1 does not parse as X.509])");
  EXPECT_EQ(problems(bundle("b", "", pem("CERTIFICATE", "x", "Name: value\n"))),
            R"(spec.trustBundle: Invalid value: "<value omitted>": entry 0 has PEM block headers)");
}

TEST(TrustBundles, AreNamedAfterTheirSigner) {
  const std::string one = authority();
  EXPECT_EQ(problems(bundle("e.com:s:b", "e.com/s", one)), "");
  EXPECT_EQ(problems(bundle("b", "e.com/s", one)),
            R"(metadata.name: Invalid value: "b": ClusterTrustBundle for signerName e.com/s must be named with prefix e.com:s:)");
  EXPECT_EQ(problems(bundle("a:b", "", one)),
            R"(metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name)");
}

TEST(TrustBundles, StayWithTheirSignerAndAreReadWhenTheyChange) {
  const Object old = bundle("e.com:s:b", "e.com/s", "was never good");
  EXPECT_EQ(problems(old, &old), "");
  EXPECT_NE(problems(bundle("e.com:s:b", "e.com/s", "is no better"), &old), "");
  EXPECT_EQ(problems(bundle("e.com:t:b", "e.com/t", "was never good"), &old),
            R"(spec.signerName: Invalid value: "e.com/t": field is immutable)");
}

std::string signer_problems(std::string_view name) {
  FieldErrors errors;
  workload::check_signer_name("s", name, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(SignerNames, AreDomainsAndPaths) {
  EXPECT_EQ(signer_problems("kubernetes.io/kube-apiserver-client"), "");
  EXPECT_EQ(signer_problems(""), "s: Required value");
  EXPECT_EQ(signer_problems("a.b/c/d"),
            R"(s: Invalid value: "a.b/c/d": must be a fully qualified domain and path of the form 'example.com/signer-name')");
  EXPECT_EQ(signer_problems("a/b"), R"(s: Invalid value: "a": should be a domain with at least two segments separated by dots)");
  EXPECT_TRUE(signer_problems("A.b/c").starts_with(R"(s: Invalid value: "A.b": validating label "A": a lowercase RFC 1123 label)"));
  EXPECT_TRUE(signer_problems("a.b/C.d").starts_with(R"(s: Invalid value: "C.d": validating label "C": a lowercase RFC 1123 subdomain)"));
  EXPECT_EQ(signer_problems("a.b/" + std::string(253, 'c') + "." + std::string(253, 'd') + "." + std::string(100, 'e')),
            "s: Too long: may not be more than 571 bytes");
}

TEST(Pem, BrokenBlocksAreNotThere) {
  const std::string good = pem("A", "abc");
  std::string all = "-----BEGIN A-----\n!!!\n-----END A-----\n" + good + "-----BEGIN B-----\nYQ==\n-----END C-----\n";
  std::string_view rest = all;
  const auto block = next_pem_block(rest);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->type + " " + block->bytes, "A abc");
  EXPECT_FALSE(block->headers);
  EXPECT_FALSE(next_pem_block(rest));
}

}  // namespace
}  // namespace backplane::certificates

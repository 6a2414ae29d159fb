#include <gtest/gtest.h>

#include "backplane/core/meta.hpp"
#include "backplane/types/base64.hpp"
#include "keys_for_test.hpp"
#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::certificates {
namespace {

using testing::certificate_der;
using testing::CertificateParts;
using testing::pem;
using testing::request_der;

backplane::testing::KindUnderTest signing_requests() {
  static const auto schemas = certificates_schemas()->front();
  return {certificates_group()->kind("CertificateSigningRequest"), *schemas, "certificates.k8s.io"};
}

std::string spec_text(const std::string& request) {
  return R"({"metadata":{"name":"a"},"spec":{"request":")" + to_base64(request) +
         R"(","signerName":"e.com/s","usages":["client auth"],"username":"somebody else"}})";
}

Object signing_request(const std::string& request) { return signing_requests().created(spec_text(request)); }

TEST(SigningRequests, HaveTheRequestersIdentity) {
  Object object = signing_requests().defaulted(spec_text("x"));
  RequestContext context;
  context.user = UserInfo{"jane", "", {"devs"}, {{"scopes", {"a"}}}};
  signing_requests().strategy().prepare_for_create(context, object);
  EXPECT_EQ(get_string_path(object, "spec.username"), "jane");
  EXPECT_EQ(to_json(*find_path(object, "spec.groups")), R"(["devs"])");
  EXPECT_EQ(to_json(*find_path(object, "spec.extra")), R"({"scopes":["a"]})");
}

TEST(SigningRequests, AreSignedByTheirKey) {
  const auto problem = [](const std::string& request) { return signing_requests().problems(signing_request(request)); };
  const auto text = [](const std::string& request, std::string_view why) {
    return "spec.request: Invalid value: \"" + to_base64(request) + "\": " + std::string(why);
  };
  const auto ec = testing::ec_key(), rsa = testing::rsa_key(2048), ed = testing::ed25519_key(), other = testing::ec_key();
  for (const auto* key : {&ec, &rsa, &ed}) EXPECT_EQ(problem(pem("CERTIFICATE REQUEST", request_der(*key))), "");
  const std::string stolen = pem("CERTIFICATE REQUEST", request_der(ec, &other));
  EXPECT_EQ(problem(stolen), text(stolen, "x509: ECDSA verification failure"));
  const std::string other_type = pem("NEW CERTIFICATE REQUEST", request_der(ec));
  EXPECT_EQ(problem(other_type), text(other_type, "PEM block type must be CERTIFICATE REQUEST"));
  const std::string cut = pem("CERTIFICATE REQUEST", request_der(ec).substr(0, 50));
  EXPECT_EQ(problem(cut), text(cut, "asn1: syntax error: data truncated"));
  const std::string_view head = "asn1: structure error: tags don't match (16 vs {class:0 tag:17 length:50 isCompound:true}) ";
  const std::string set = pem("CERTIFICATE REQUEST", "123");
  EXPECT_TRUE(problem(set).starts_with(text(set, head))) << problem(set);
  const std::string padded = pem("CERTIFICATE REQUEST", std::string("\x30\x81\x01", 3));
  EXPECT_EQ(problem(padded), text(padded, "asn1: structure error: non-minimal length"));
  const std::string endless = pem("CERTIFICATE REQUEST", "\x30\x80");
  EXPECT_EQ(problem(endless), text(endless, "asn1: syntax error: indefinite length found (not DER)"));
  const std::string longer = pem("CERTIFICATE REQUEST", request_der(ec) + "x");
  EXPECT_EQ(problem(longer), text(longer, "asn1: syntax error: trailing data"));
}

TEST(SigningRequests, HaveAlternativeNamesThatGoReads) {
  const auto key = testing::ec_key();
  const auto problem = [&key](int type, std::string_view bytes) {
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(GENERAL_NAMES_new(), &GENERAL_NAMES_free);
    GENERAL_NAME* name = GENERAL_NAME_new();
    ASN1_STRING* text = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
    ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size()));
    GENERAL_NAME_set0_value(name, type, text);
    sk_GENERAL_NAME_push(names.get(), name);
    const auto request = read_request(request_der(key, nullptr, names.get()));
    return request.ok() ? "" : request.status().message();
  };
  EXPECT_EQ(problem(GEN_DNS, "a.example.com"), "");
  EXPECT_EQ(problem(GEN_IPADD, "1234"), "");
  EXPECT_EQ(problem(GEN_IPADD, "12345"), "x509: cannot parse IP address of length 5");
  EXPECT_EQ(problem(GEN_DNS, "\x80"), "x509: SAN dNSName is malformed");
  EXPECT_EQ(problem(GEN_EMAIL, "\x80"), "x509: SAN rfc822Name is malformed");
  EXPECT_EQ(problem(GEN_URI, "\x80"), "x509: SAN uniformResourceIdentifier is malformed");
}

TEST(SigningRequests, HaveKnownUsagesOnceAndTenMinutes) {
  Object object = signing_request(pem("CERTIFICATE REQUEST", request_der(testing::ec_key())));
  Object& spec = object.at("spec").get_object();
  spec["usages"] = json::parse(R"(["any","any"])");
  spec["expirationSeconds"] = 599;
  EXPECT_EQ(signing_requests().problems(object),
            "[spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes), "
            "spec.usages[1]: Duplicate value: \"any\"]");
  spec["expirationSeconds"] = 600;
  spec["usages"] = Array();
  spec["signerName"] = "kubernetes.io/legacy-unknown";
  EXPECT_EQ(signing_requests().problems(object),
            "[spec.usages: Required value, spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not "
            "allowed via this API version]");
}

// ---- status and approval

class Verdicts : public ::testing::Test {
 protected:
  // The conditions as they are stored.
  Array updated(const std::shared_ptr<const Strategy>& strategy, std::string_view conditions, std::string_view certificate = {}) {
    Object object = old;
    Object& status = object["status"].emplace_object();
    status["conditions"] = json::parse(conditions);
    if (!certificate.empty()) status["certificate"] = to_base64(certificate);
    RequestContext context;
    FieldErrors errors;
    strategy->prepare_for_update(context, object, old);
    strategy->validate_update(context, object, old, errors);
    problems = errors.empty() ? "" : errors.aggregate_message();
    certificate_kept = object.at("status").get_object().contains("certificate");
    return object.at("status").get_object().at("conditions").get_array();
  }

  const kit::KindRow row = certificates_group()->kind("CertificateSigningRequest");
  const std::shared_ptr<const Strategy> status = row.status_strategy(row.strategy());
  const std::shared_ptr<const Strategy> approval = approval_strategy(row.strategy());
  Object old = json::parse(R"({"spec":{},"status":{}})").get_object();
  std::string problems;
  bool certificate_kept = false;
};

TEST_F(Verdicts, AreGivenThroughApprovalAlone) {
  constexpr std::string_view kApproved = R"([{"type":"Approved","status":"True"}])";
  const Array kept = updated(approval, kApproved, "x");
  EXPECT_EQ(problems, "");
  EXPECT_FALSE(certificate_kept);
  EXPECT_TRUE(parse_rfc3339(get_string(kept[0].get_object(), "lastUpdateTime")));
  EXPECT_TRUE(parse_rfc3339(get_string(kept[0].get_object(), "lastTransitionTime")));
  updated(status, kApproved);
  EXPECT_EQ(problems, "status.conditions: Forbidden: updates may not add a condition of type \"Approved\"");
}

TEST_F(Verdicts, AreGivenOnceAndStay) {
  old["status"] =
      json::parse(R"({"conditions":[{"type":"Approved","status":"True","reason":"r","lastTransitionTime":"2020-01-01T00:00:00Z"}]})");
  updated(approval, R"([{"type":"Approved","status":"True"},{"type":"Denied","status":"True"}])");
  EXPECT_EQ(problems, "status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive");
  updated(approval, "[]");
  EXPECT_EQ(problems, "status.conditions: Forbidden: updates may not remove a condition of type \"Approved\"");
  const Array again = updated(approval, R"([{"type":"Approved","status":"True"}])");
  EXPECT_EQ(get_string(again[0].get_object(), "lastTransitionTime"), "2020-01-01T00:00:00Z") << "nothing has changed since";
  const Array kept = updated(status, R"([{"type":"Approved","status":"True","reason":"other"},{"type":"Mine","status":"True"}])");
  EXPECT_EQ(problems, "");
  EXPECT_EQ(get_string(kept[0].get_object(), "reason"), "r");
}

TEST_F(Verdicts, CertificatesComeOnce) {
  const std::string good = pem("CERTIFICATE", certificate_der(testing::ec_key(), {}));
  updated(status, "[]", good);
  EXPECT_EQ(problems, "");
  const auto refused = [&](const std::string& text) {
    updated(status, "[]", text);
    return problems.substr(problems.rfind(": ") + 2);
  };
  EXPECT_EQ(refused("x"), "must contain at least one CERTIFICATE PEM block");
  EXPECT_EQ(refused(pem("CERTIFICATE", "x")), "malformed certificate");
  EXPECT_EQ(refused(pem("CERTIFICATE REQUEST", "x")), "only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\"");
  old["status"].get_object()["certificate"] = to_base64(good);
  updated(status, "[]", good + good);
  EXPECT_EQ(problems, "status.certificate: Forbidden: updates may not modify existing certificate content");
}

TEST(SigningRequests, ShowTheirConditions) {
  const auto state = [](std::string_view status) {
    Object object;
    object["status"] = json::parse(status);
    Array cells;
    print_signing_state(object, 0, cells);
    return std::string(cells.at(0).get_string());
  };
  EXPECT_EQ(state("{}"), "Pending");
  EXPECT_EQ(state(R"({"conditions":[{"type":"Approved"}],"certificate":"eA=="})"), "Approved,Issued");
  EXPECT_EQ(state(R"({"conditions":[{"type":"Failed"},{"type":"Denied"},{"type":"Approved"}]})"), "Denied,Failed");
  EXPECT_EQ(show_duration(nullptr, 0), "<none>");
  const Value seconds = 3600;
  EXPECT_EQ(show_duration(&seconds, 0), "60m");
}

// ---- PodCertificateRequests

constexpr std::int64_t kNow = 1'700'000'000;

Object pod_request(const std::string& key_members, std::int64_t seconds = 86'400) {
  Object out = json::parse(R"({"metadata":{"name":"r","namespace":"n"},"spec":{"signerName":"e.com/s","podName":"p","podUID":"pu",)"
                           R"("serviceAccountName":"s","serviceAccountUID":"su","nodeName":"n","nodeUID":"nu",)" +
                           key_members + "}}")
                   .get_object();
  out.at("spec").get_object()["maxExpirationSeconds"] = seconds;
  return out;
}

std::string stub(const std::string& der) { return R"("stubPKCS10Request":")" + to_base64(der) + "\""; }

std::string proof(const PublicKey& key, std::string_view signed_text, bool pss = false) {
  EVP_MD_CTX* digest = EVP_MD_CTX_new();
  EVP_PKEY_CTX* how = nullptr;
  EVP_DigestSignInit(digest, &how, testing::hash_for(key), nullptr, key.get());
  if (pss) EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING);
  std::string out(1024, '\0');
  std::size_t size = out.size();
  EVP_DigestSign(digest, reinterpret_cast<unsigned char*>(out.data()), &size, reinterpret_cast<const unsigned char*>(signed_text.data()),
                 signed_text.size());
  EVP_MD_CTX_free(digest);
  out.resize(size);
  return R"("pkixPublicKey":")" + to_base64(testing::der_of<EVP_PKEY>(key.get(), i2d_PUBKEY)) + R"(","proofOfPossession":")" +
         to_base64(out) + "\"";
}

std::string new_problems(const Object& request) {
  const auto strategy = certificates_group()->kind("PodCertificateRequest").strategy();
  RequestContext context;
  FieldErrors errors;
  strategy->validate(context, request, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(PodRequests, ShowThatTheyHaveAKey) {
  const auto ed = testing::ed25519_key(), ec = testing::ec_key("P-384"), rsa = testing::rsa_key(3072);
  for (const auto* key : {&ed, &ec, &rsa}) {
    EXPECT_EQ(new_problems(pod_request(stub(request_der(*key)))), "");
    EXPECT_EQ(new_problems(pod_request(proof(*key, "pu", key == &rsa))), "");
    EXPECT_EQ(new_problems(pod_request(proof(*key, "another", key == &rsa))),
              "spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature");
  }
  EXPECT_EQ(new_problems(pod_request(stub(request_der(ec, &rsa)))), "spec.stubPKCS10Request: Invalid value: invalid signature");
  EXPECT_EQ(new_problems(pod_request(stub("x"))), "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR");
  EXPECT_EQ(new_problems(pod_request(stub(request_der(testing::rsa_key(2048))))),
            "spec.stubPKCS10Request: Invalid value: \"2048-bit modulus\": RSA keys must have modulus size 3072 or 4096");
  EXPECT_EQ(new_problems(pod_request(stub(request_der(testing::ec_key("P-224"))))),
            "spec.stubPKCS10Request: Invalid value: \"curve P-224\": elliptic public keys must use curve P256, P384, or P521");
  EXPECT_EQ(new_problems(pod_request(stub("x") + "," + proof(ed, "pu"))),
            "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set");
}

TEST(PodRequests, NameTheirPodAndLastAsLongAsSignersAllow) {
  Object request = pod_request(stub(request_der(testing::ed25519_key())), 86'401);
  EXPECT_EQ(new_problems(request), "");
  Object& spec = request.at("spec").get_object();
  spec["signerName"] = "kubernetes.io/kube-apiserver-client-pod";
  EXPECT_EQ(new_problems(request), "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]");
  spec["maxExpirationSeconds"] = 3600;
  spec["nodeUID"] = "";
  spec["podName"] = "P";
  const std::string problems = new_problems(request);
  EXPECT_TRUE(problems.starts_with("[spec.podName: Invalid value: \"P\": a lowercase RFC 1123 subdomain")) << problems;
  EXPECT_TRUE(problems.ends_with("spec.nodeUID: Invalid value: \"\": must not be empty]")) << problems;
  spec["podName"] = "p";
  spec["nodeUID"] = "u";
  spec["unverifiedUserAnnotations"] = json::parse(R"({"e.com/A":"x","b":"y"})");
  EXPECT_EQ(new_problems(request),
            R"(spec.unverifiedUserAnnotations: Invalid value: "b": must be a domain-prefixed key (such as "acme.io/foo"))");
}

class Issuing : public ::testing::Test {
 protected:
  std::string problems(const CertificateParts& parts, const PublicKey& key) {
    const std::string chain = pem("CERTIFICATE", certificate_der(key, parts));
    return problems(R"({"conditions":[)" + condition("Issued") + R"(],"certificateChain":)" + to_json(Value(chain)) + R"(,"notBefore":")" +
                    format_rfc3339(parts.not_before) + R"(","notAfter":")" + format_rfc3339(parts.not_after) + R"(","beginRefreshAt":")" +
                    format_rfc3339(refresh) + "\"}");
  }
  std::string problems(const std::string& status) {
    Object request = old;
    request["status"] = json::parse(status);
    FieldErrors errors;
    check_pod_request_status(request, old, kNow, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  static std::string condition(const std::string& type) {
    return R"({"type":")" + type + R"(","status":"True","reason":"R","message":"","lastTransitionTime":"2023-11-14T22:13:20Z"})";
  }

  const PublicKey key = testing::ed25519_key();
  Object old = pod_request(stub(request_der(key)), 7200);
  std::int64_t refresh = kNow + 3000;
};

TEST_F(Issuing, CertificatesAreForTheKeyAndTheTime) {
  EXPECT_EQ(problems({false, kNow, kNow + 7200, "DNS:a.example.com"}, key), "");
  EXPECT_TRUE(problems({false, kNow, kNow + 7200}, testing::ed25519_key()).ends_with("was not issued to the requested public key"));
  EXPECT_EQ(problems({false, kNow, kNow + 7201}, key),
            "status.certificateChain: Invalid value: 7201000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)");
  EXPECT_EQ(problems({false, kNow, kNow + 3599}, key),
            "status.certificateChain: Invalid value: 3599000000000: leaf certificate lifetime must be >= 1 hour");
  EXPECT_TRUE(
      problems({false, kNow - 300, kNow + 6000}, key).ends_with("must be set to within 5 minutes of kube-apiserver's current time"));
  EXPECT_TRUE(problems({false, kNow, kNow + 7200, "DNS:.a"}, key).ends_with("leaf certificate's DNSName should not start or end with '.'"));
  refresh = kNow + 7000;
  EXPECT_EQ(problems({false, kNow, kNow + 7200}, key), "status.beginRefreshAt: Invalid value: \"" + format_rfc3339(refresh) +
                                                           "\": must be at least 10 minutes before status.notAfter");
}

TEST_F(Issuing, RequestsEndInOneWay) {
  EXPECT_EQ(problems("{\"conditions\":[" + condition("Denied") + "]}"), "");
  EXPECT_EQ(problems("{\"conditions\":[" + condition("Denied") + "],\"certificateChain\":\"x\"}"),
            "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest");
  EXPECT_EQ(
      problems("{\"conditions\":[" + condition("Denied") + "," + condition("Failed") + "]}"),
      "status.conditions.[1].type: Invalid value: \"Failed\": There may be at most one condition with type \"Issued\", \"Denied\", or "
      "\"Failed\"");
  EXPECT_EQ(problems("{\"conditions\":[" + condition("Other") + "]}"),
            "status.conditions.[0].type: Unsupported value: \"Other\": supported values: \"Issued\", \"Denied\", \"Failed\"");
  EXPECT_EQ(problems("{\"certificateChain\":\"x\"}"),
            "status: Invalid value: status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"");
  old["status"] = json::parse("{\"conditions\":[" + condition("Failed") + "]}");
  EXPECT_EQ(problems("{\"conditions\":[" + condition("Denied") + "]}"),
            "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed");
}

}  // namespace
}  // namespace backplane::certificates

#include "certificates/request.hpp"

#include <gtest/gtest.h>

namespace backplane::controllers {
namespace {

// PEM requests in base64, made by openssl req.
constexpr const char* kNode =  // O=system:nodes, CN=system:node:n1
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0Ex"
    "VUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVFJQ2ZneCtpTFUzZkVuCmdDaW9LK28yMGJXRE9Z"
    "T1V2NEJQdkdWRmQ5T3ZaWXhTS3hQekhseVBaQzFNOHgvSml5TStIT3VTZll6RmVUSXMKMFE5dksyTVZvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQU4v"
    "cysyeFEyS0JUWlh3VWlsdjJJZ3ZiNUNVYQpJZS9QcVBCYTJGQjhQTFpIQWlBUW5OZklIa01ZYUhsalBUZVBseFE3cjhHRnU5OFRlczQ0ZjFwZVNzZlI4dz09"
    "Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
constexpr const char* kServing =  // the same with the names DNS:n1 and IP:10.0.0.1
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkVqQ0J1QUlCQURBd01SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RnpBVkJn"
    "TlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFNVdLa1YveGg3KzBuCjBmUG14L1lJSHJ4VDBt"
    "cHNuTzlRNThNL2lBUWRSYXdWaENiZFVER015M2E4em16MmRhNFhZODFMNkNzMU1rV0cKV00wRDBZUGpscUFtTUNRR0NTcUdTSWIzRFFFSkRqRVhNQlV3RXdZ"
    "RFZSMFJCQXd3Q29JQ2JqR0hCQW9BQUFFdwpDZ1lJS29aSXpqMEVBd0lEU1FBd1JnSWhBSU5XSFdPQXg3QnN4RkVEa0ROR0k4c3lhbGx3V3JBQytpdEJwdDV0"
    "CnhYMFRBaUVBb041YVZDSEFBa3NjSjA3OFhKUytYTS92cEFmQmpMRHA0d1pvSjNiUE4xND0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
constexpr const char* kForeign =  // O=other, CN=system:node:n1
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIa01JR0xBZ0VBTUNreERqQU1CZ05WQkFvTUJXOTBhR1Z5TVJjd0ZRWURWUVFEREE1emVY"
    "TjBaVzA2Ym05awpaVHB1TVRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQk1QZUdzZmlocktaK2pGU0ExQzAvWk9FCktNOTdMMnlrc1cyWklT"
    "RXR4WVNSWTNxRUlDTDcrNDRXNjZtN01GNnRDK0tjRit3RFZEUXdNQVMrU1cwSHpMQ2cKQURBS0JnZ3Foa2pPUFFRREFnTklBREJGQWlFQXg1ZXRxZUl1bGRO"
    "Y3d3ZGs5SWZWVlU1cWR4MjFaMVdzUzNMRwpyN2RnS1NVQ0lIRGxNbXltN0FKWGxhSGV4WWFFTXdSbW5OMERyZGdmZSswM2hBbmNkT2xoCi0tLS0tRU5EIENF"
    "UlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
constexpr const char* kMailed =  // O=system:nodes, CN=jane, email:a@b.c
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkF6Q0Jxd0lCQURBbU1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RFRBTEJn"
    "TlZCQU1NQkdwaApibVV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVI0ZlJuYTBFZFRwSjhXMkl5c21mVG1CT2ZlCjdpdkFsTFFtWFNGRVNQ"
    "Z1gvUjFGcERWcVZiblVTOXFmVHkrektrOEs4MXJYRVdDOEFZUldkSU1zT1BjRG9DTXcKSVFZSktvWklodmNOQVFrT01SUXdFakFRQmdOVkhSRUVDVEFIZ1FW"
    "aFFHSXVZekFLQmdncWhrak9QUVFEQWdOSApBREJFQWlBcXFVYmMvSm1IeG9QOFAxT0d2Z0NKZzNBckd0L1UwRUxzRkp1Mk5YT0Nad0lnZHp2WnN4enQ5MTdv"
    "CmJJZUFKUTY0eGY2WVNKa0NjdnhCSmtrNTJRYmN0d3M9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

const std::set<std::string> kClientUsages{"client auth", "digital signature"};
const std::set<std::string> kServerUsages{"server auth", "digital signature", "key encipherment"};

ParsedRequest parsed(const char* request) {
  const Object csr{{"spec", Object{{"request", request}}}};
  auto out = parse_request(csr);
  EXPECT_TRUE(out.ok());
  return out.ok() ? std::move(*out) : ParsedRequest();
}

TEST(CertificateRequest, HasASubjectAndNames) {
  const ParsedRequest request = parsed(kServing);
  EXPECT_EQ(request.common_name, "system:node:n1");
  EXPECT_EQ(request.organizations, std::vector<std::string>{"system:nodes"});
  EXPECT_EQ(request.dns_names, 1);
  EXPECT_EQ(request.addresses, 1);
  EXPECT_EQ(request.emails + request.uris, 0);
  const Object broken{{"spec", Object{{"request", "bm8gcGVt"}}}};
  EXPECT_EQ(parse_request(broken).status().message(), "PEM block type must be CERTIFICATE REQUEST");
}

TEST(CertificateRequest, OfAKubeletClientHasNoNames) {
  EXPECT_EQ(kubelet_client_problem(parsed(kNode), kClientUsages), "");
  EXPECT_EQ(kubelet_client_problem(parsed(kServing), kClientUsages), "DNS subjectAltNames are not allowed");
  EXPECT_EQ(kubelet_client_problem(parsed(kForeign), kClientUsages), "subject organization is not system:nodes");
  EXPECT_EQ(kubelet_client_problem(parsed(kMailed), kClientUsages), "Email subjectAltNames are not allowed");
  EXPECT_EQ(kubelet_client_problem(parsed(kNode), kServerUsages), "usages did not match [client auth digital signature key encipherment]");
}

TEST(CertificateRequest, OfAKubeletServerHasNames) {
  EXPECT_EQ(kubelet_serving_problem(parsed(kServing), kServerUsages), "");
  EXPECT_EQ(kubelet_serving_problem(parsed(kNode), kServerUsages), "DNS or IP subjectAltName is required");
  EXPECT_EQ(kubelet_serving_problem(parsed(kServing), kClientUsages),
            "usages did not match [digital signature key encipherment server auth]");
}

TEST(CertificateRequest, OfAClientHasUsagesOfOne) {
  const auto problem = [](std::initializer_list<json::value_ref> usages) {
    return client_problem(Object{{"spec", Object{{"usages", Array(usages)}}}});
  };
  EXPECT_EQ(problem({"client auth"}), "");
  EXPECT_EQ(problem({"client auth", "server auth"}), "invalid usage for client certificate: server auth");
  EXPECT_EQ(problem({"digital signature"}), "missing required usage for client certificate: client auth");
}

TEST(CertificateRequest, ConditionsCountIfTheyAreTrue) {
  const Object csr = json::parse(R"({"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"},
    {"type":"Failed","status":"False"}]}})")
                         .as_object();
  EXPECT_TRUE(has_true_condition(csr, "Approved"));
  EXPECT_FALSE(has_true_condition(csr, "Failed"));
  EXPECT_TRUE(is_issued(csr));
  EXPECT_FALSE(is_issued(Object()));
}

}  // namespace
}  // namespace backplane::controllers

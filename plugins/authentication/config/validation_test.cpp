#include "config/validation.hpp"

#include <gtest/gtest.h>

namespace backplane::authentication {
namespace {

JwtConfig good() {
  JwtConfig jwt;
  jwt.issuer.url = "https://issuer.example";
  jwt.issuer.audiences = {"app"};
  jwt.username.claim = "sub";
  jwt.username.prefix = "";
  return jwt;
}

std::string problems(const AuthenticationConfiguration& config, const ValidationOptions& options = {}) {
  return validate(config, options).errors.aggregate_message();
}

// The errors of a valid entry after `change`.
template <class F>
std::string after(F change, const ValidationOptions& options = {}) {
  JwtConfig jwt = good();
  change(jwt);
  return problems({{std::move(jwt)}, {}}, options);
}

TEST(AuthenticationConfigValidationTest, AMinimalEntryAndAnEmptyFileAreValid) {
  EXPECT_EQ(problems({}), "");
  EXPECT_EQ(after([](JwtConfig&) {}), "");
}

TEST(AuthenticationConfigValidationTest, IssuerUrls) {
  struct Case {
    std::string url, problem;
  };
  const Case cases[] = {
      {"", "jwt[0].issuer.url: Required value"},
      {"http://a.example", "jwt[0].issuer.url: Invalid value: \"http://a.example\": URL scheme must be https"},
      {"HTTPS://a.example", ""},
      {"https://u:p@a.example", "jwt[0].issuer.url: Invalid value: \"https://u:p@a.example\": URL must not contain a username or password"},
      {"https://a.example?q=1", "jwt[0].issuer.url: Invalid value: \"https://a.example?q=1\": URL must not contain a query"},
      {"https://a.example#f", "jwt[0].issuer.url: Invalid value: \"https://a.example#f\": URL must not contain a fragment"},
      {"https://a.example/path", ""},
      {"https://a.example:port",
       "jwt[0].issuer.url: Invalid value: \"https://a.example:port\": parse \"https://a.example:port\": "
       "invalid port \":port\" after host"},
  };
  for (const Case& each : cases) EXPECT_EQ(after([&](JwtConfig& jwt) { jwt.issuer.url = each.url; }), each.problem) << each.url;
  EXPECT_EQ(after([](JwtConfig&) {}, {{"https://z", "https://issuer.example"}}),
            "jwt[0].issuer.url: Invalid value: \"https://issuer.example\": URL must not overlap with disallowed issuers: "
            "[https://issuer.example https://z]");
}

TEST(AuthenticationConfigValidationTest, DiscoveryUrls) {
  const auto problem = [](const std::string& url) { return after([&](JwtConfig& jwt) { jwt.issuer.discovery_url = url; }); };
  EXPECT_EQ(problem("https://other.example/.well-known/openid-configuration"), "");
  EXPECT_EQ(problem("https://issuer.example/"),
            "jwt[0].issuer.discoveryURL: Invalid value: \"https://issuer.example/\": discoveryURL must be different from URL");
  EXPECT_EQ(problem("http://other.example"),
            "jwt[0].issuer.discoveryURL: Invalid value: \"http://other.example\": URL scheme must be https");
}

TEST(AuthenticationConfigValidationTest, IssuersAndDiscoveryUrlsAreUnique) {
  JwtConfig first = good(), second = good();
  first.issuer.discovery_url = second.issuer.discovery_url = "https://d.example";
  EXPECT_EQ(problems({{first, second}, {}}),
            "[jwt[1].issuer.url: Duplicate value: \"https://issuer.example\", "
            "jwt[1].issuer.discoveryURL: Duplicate value: \"https://d.example\"]");
  EXPECT_EQ(problems({std::vector<JwtConfig>(65, good()), {}}), "jwt: Too many: 65: must have at most 64 items");
}

TEST(AuthenticationConfigValidationTest, Audiences) {
  const auto problem = [](std::vector<std::string> audiences, const std::string& policy) {
    return after([&](JwtConfig& jwt) {
      jwt.issuer.audiences = audiences;
      jwt.issuer.audience_match_policy = policy;
    });
  };
  EXPECT_EQ(problem({}, ""), "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required");
  EXPECT_EQ(problem({""}, ""), "jwt[0].issuer.audiences[0]: Required value");
  EXPECT_EQ(problem({"a", "a"}, "MatchAny"), "jwt[0].issuer.audiences[1]: Duplicate value: \"a\"");
  EXPECT_EQ(problem({"a", "b"}, "MatchAny"), "");
  EXPECT_EQ(problem({"a", "b"}, ""),
            "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"\": audienceMatchPolicy must be MatchAny for multiple audiences");
  EXPECT_EQ(problem({"a"}, "MatchAny"), "");
  EXPECT_EQ(problem({"a"}, "MatchAll"),
            "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"MatchAll\": audienceMatchPolicy must be empty or MatchAny for single "
            "audience");
}

TEST(AuthenticationConfigValidationTest, CertificatesAndEgress) {
  EXPECT_EQ(after([](JwtConfig& jwt) { jwt.issuer.certificate_authority = "rubbish"; }),
            "jwt[0].issuer.certificateAuthority: Invalid value: \"<omitted>\": data does not contain any valid RSA or ECDSA certificates");
  EXPECT_EQ(after([](JwtConfig& jwt) { jwt.issuer.egress_selector_type = "cluster"; }), "");
  EXPECT_EQ(after([](JwtConfig& jwt) { jwt.issuer.egress_selector_type = "etcd"; }),
            "jwt[0].issuer.egressSelectorType: Invalid value: \"etcd\": egress selector must be either controlplane or cluster");
  ValidationOptions off;
  off.egress_selector_gate = false;
  EXPECT_EQ(after([](JwtConfig& jwt) { jwt.issuer.egress_selector_type = "cluster"; }, off),
            "jwt[0].issuer.egressSelectorType: Invalid value: \"cluster\": egress selector is not supported when "
            "StructuredAuthenticationConfigurationEgressSelector feature gate is disabled");
}

TEST(AuthenticationConfigValidationTest, ClaimRules) {
  const auto problem = [](std::vector<ClaimValidationRule> rules) { return after([&](JwtConfig& jwt) { jwt.claim_rules = rules; }); };
  const std::string at = "jwt[0].claimValidationRules[0]";
  EXPECT_EQ(problem({{"a", "", "true", ""}}), at + ": Invalid value: \"a\": claim and expression can't both be set");
  EXPECT_EQ(problem({{}}), at + ": Required value: claim or expression is required");
  EXPECT_EQ(problem({{"a", "v", "", "m"}}), at + ".message: Invalid value: \"m\": may not be specified when claim is set");
  EXPECT_EQ(problem({{"a", "v", "", ""}, {"a", "w", "", ""}}), "jwt[0].claimValidationRules[1].claim: Duplicate value: \"a\"");
  EXPECT_EQ(problem({{"", "v", "true", ""}}), at + ".requiredValue: Invalid value: \"v\": may not be specified when expression is set");
  EXPECT_EQ(problem({{"", "", "true", ""}, {"", "", "true", ""}}), "jwt[0].claimValidationRules[1].expression: Duplicate value: \"true\"");
  EXPECT_EQ(problem({{"", "", "claims.hd", ""}}), at + ".expression: Invalid value: \"claims.hd\": must evaluate to bool");
  EXPECT_EQ(problem({{"", "", "claims.hd == 'x'", ""}}), "");
  EXPECT_EQ(problem({{"", "", "foo.bar", ""}}),
            at + ".expression: Invalid value: \"foo.bar\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in "
                 "container '')\n | foo.bar\n | ^");
  // A rule over claims cannot use the user.
  EXPECT_NE(problem({{"", "", "user.username == 'a'", ""}}).find("undeclared reference to 'user'"), std::string::npos);
}

TEST(AuthenticationConfigValidationTest, UsernameAndGroups) {
  const auto problem = [](ClaimMapping username, ClaimMapping groups) {
    return after([&](JwtConfig& jwt) {
      jwt.username = username;
      jwt.groups = groups;
    });
  };
  const std::string at = "jwt[0].claimMappings.";
  EXPECT_EQ(problem({}, {}), at + "username: Required value: claim or expression is required");
  EXPECT_EQ(problem({"a", "", "b"}, {}), at + "username: Invalid value: \"\": claim and expression can't both be set");
  EXPECT_EQ(problem({"a", std::nullopt, ""}, {"b", std::nullopt, ""}),
            "[" + at +
                "username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable "
                "prefixing, " +
                at +
                "groups.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable "
                "prefixing]");
  EXPECT_EQ(problem({"", "p", "claims.a"}, {}), at + "username.prefix: Invalid value: \"p\": may not be specified when expression is set");
  EXPECT_NE(problem({"", std::nullopt, "claims."}, {}).find("username.expression: Invalid value: \"claims.\": compilation failed: "),
            std::string::npos);
  EXPECT_EQ(problem({"", std::nullopt, "claims.a"}, {"", std::nullopt, "claims.roles"}), "");
}

TEST(AuthenticationConfigValidationTest, AnEmailAsUsernameNeedsItsVerification) {
  const std::string wrong =
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or "
      "claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
  const auto problem = [](const std::string& username, const std::string& rule, const std::string& extra) {
    return after([&](JwtConfig& jwt) {
      jwt.username = {"", std::nullopt, username};
      if (!rule.empty()) jwt.claim_rules = {{"", "", rule, ""}};
      if (!extra.empty()) jwt.extra = {{"example.org/v", extra}};
    });
  };
  EXPECT_EQ(problem("claims.email", "", ""), "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": " + wrong);
  EXPECT_NE(problem("claims.?email.orValue('')", "", "").find(wrong), std::string::npos);
  EXPECT_EQ(problem("claims.email_verified ? claims.email : claims.sub", "", ""), "");
  EXPECT_EQ(problem("claims.email", "claims.email_verified == true", ""), "");
  EXPECT_EQ(problem("claims.email", "claims.?email_verified.orValue(true) == true", ""), "");
  EXPECT_EQ(problem("claims.email", "", "string(claims.email_verified)"), "");
  EXPECT_NE(problem("claims.email", "'claims.email_verified' == 'x'", "").find(wrong), std::string::npos);
}

TEST(AuthenticationConfigValidationTest, UidAndExtra) {
  EXPECT_EQ(after([](JwtConfig& jwt) {
              jwt.uid = {"a", std::nullopt, "claims.b"};
            }),
            "jwt[0].claimMappings.uid: Invalid value: \"\": claim and expression can't both be set");
  const auto problem = [](std::vector<ExtraMapping> extra) { return after([&](JwtConfig& jwt) { jwt.extra = extra; }); };
  const std::string at = "jwt[0].claimMappings.extra[0]";
  EXPECT_EQ(problem({{"example.org/a", "claims.a"}}), "");
  EXPECT_EQ(problem({{"", "claims.a"}}), at + ".key: Required value");
  EXPECT_EQ(problem({{"a", "claims.a"}}), at + ".key: Invalid value: \"a\": must be a domain-prefixed path (such as \"acme.io/foo\")");
  EXPECT_EQ(problem({{"example.org/A", "claims.a"}}), at + ".key: Invalid value: \"example.org/A\": must be lowercase");
  for (const char* key : {"k8s.io/a", "x.k8s.io/a", "kubernetes.io/a", "x.kubernetes.io/a"}) {
    EXPECT_EQ(problem({{key, "claims.a"}}),
              at + ".key: Invalid value: \"" + key + "\": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
  }
  EXPECT_EQ(problem({{"example.org/a", "claims.a"}, {"example.org/a", "claims.b"}}),
            "jwt[0].claimMappings.extra[1].key: Duplicate value: \"example.org/a\"");
  EXPECT_EQ(problem({{"example.org/a", ""}}), at + ".valueExpression: Required value");
}

TEST(AuthenticationConfigValidationTest, UserRules) {
  const auto problem = [](std::vector<UserValidationRule> rules) { return after([&](JwtConfig& jwt) { jwt.user_rules = rules; }); };
  const std::string at = "jwt[0].userValidationRules[0].expression";
  EXPECT_EQ(problem({{"!user.username.startsWith('system:')", "reserved"}}), "");
  EXPECT_EQ(problem({{"user.groups.all(g, !g.startsWith('system:'))", ""}, {"'x' in user.extra", ""}}), "");
  EXPECT_EQ(problem({{}}), at + ": Required value");
  EXPECT_EQ(problem({{"true", ""}, {"true", ""}}), "jwt[0].userValidationRules[1].expression: Duplicate value: \"true\"");
  EXPECT_EQ(problem({{"user.username", ""}}), at + ": Invalid value: \"user.username\": must evaluate to bool");
  EXPECT_NE(problem({{"user.name == 'a'", ""}}).find("undefined field 'name'"), std::string::npos);
}

TEST(AuthenticationConfigValidationTest, Anonymous) {
  EXPECT_EQ(problems({{}, AnonymousConfig{true, {"/healthz"}}}), "");
  EXPECT_EQ(problems({{}, AnonymousConfig{false, {}}}), "");
  EXPECT_EQ(problems({{}, AnonymousConfig{false, {"/healthz"}}}),
            "anonymous.conditions: Invalid value: [{\"Path\":\"/healthz\"}]: enabled should be set to true when conditions are defined");
}

TEST(AuthenticationConfigTest, AFileOfEveryVersionIsDecoded) {
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    const auto config = decode_authentication_config("apiVersion: apiserver.config.k8s.io/" + std::string(version) + R"(
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: https://issuer.example
    discoveryURL: https://d.example
    audiences: [a, b]
    audienceMatchPolicy: MatchAny
    egressSelectorType: cluster
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  - expression: claims.nbf > 0
    message: m
  claimMappings:
    username: {claim: sub, prefix: ""}
    groups: {expression: claims.roles}
    uid: {claim: id}
    extra:
    - {key: example.org/a, valueExpression: claims.a}
  userValidationRules:
  - {expression: "true", message: no n}
anonymous:
  enabled: true
  conditions:
  - path: /livez
)");
    ASSERT_TRUE(config.ok()) << config.status().message();
    ASSERT_EQ(config->jwt.size(), 1u);
    const JwtConfig& jwt = config->jwt[0];
    EXPECT_EQ(jwt.issuer.discovery_url, "https://d.example");
    EXPECT_EQ(jwt.issuer.audiences, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(jwt.claim_rules[0].required_value, "example.com");
    EXPECT_EQ(jwt.claim_rules[1].expression, "claims.nbf > 0");
    EXPECT_EQ(jwt.username.prefix, std::optional<std::string>(""));
    EXPECT_EQ(jwt.groups.prefix, std::nullopt);
    EXPECT_EQ(jwt.uid.claim, "id");
    EXPECT_EQ(jwt.extra[0].expression, "claims.a");
    EXPECT_EQ(jwt.user_rules[0].message, "no n");
    EXPECT_EQ(config->anonymous, (AnonymousConfig{true, {"/livez"}}));
  }
}

TEST(AuthenticationConfigTest, MistakesNameTheField) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
  const auto problem = [](const std::string& text) { return decode_authentication_config(text).status().message(); };
  EXPECT_EQ(problem(""), "empty config data");
  EXPECT_EQ(problem(head + "jwt:\n- issuer: {ur: a}\n"), "strict decoding error: unknown field \"jwt[0].issuer.ur\"");
  EXPECT_EQ(problem(head + "jwt: {}\n"),
            "json: cannot unmarshal object into Go struct field AuthenticationConfiguration.jwt of type []v1.JWTAuthenticator");
  EXPECT_EQ(problem("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"),
            "expected AuthenticationConfiguration, got *apiserver.EncryptionConfiguration");
}

}  // namespace
}  // namespace backplane::authentication

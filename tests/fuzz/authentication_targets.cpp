#include "authentication_targets.hpp"

#include "backplane/kit/base64url.hpp"
#include "config/validation.hpp"
#include "oidc/claim_user.hpp"
#include "oidc/id_token.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

using namespace authentication;

JwtConfig mapping_config() {
  JwtConfig jwt;
  jwt.issuer.url = "https://issuer.example";
  jwt.issuer.audiences = {"app"};
  jwt.username = {"", std::nullopt, "claims.sub + string(claims.?n.orValue(1))"};
  jwt.groups = {"groups", "g:", ""};
  jwt.uid = {"", std::nullopt, "claims.a__dot__b"};
  jwt.extra = {{"example.org/a", "dyn(claims.list).filter(x, x != 'y')"}, {"example.org/b", "claims.?deep.?x.orValue('')"}};
  jwt.claim_rules = {{"hd", "example.com", "", ""}, {"", "", "claims.exp > 0.0 || has(claims.nbf)", "m"}};
  jwt.user_rules = {{"!user.username.startsWith('system:') && user.groups.all(g, g != 'x')", ""}};
  return jwt;
}

const ClaimUser& users() {
  static const ClaimUser made = [] {
    ValidatedConfig validated = validate({{mapping_config()}, {}}, {});
    FUZZ_REQUIRE(validated.errors.empty());
    return ClaimUser(mapping_config(), std::move(validated.expressions[0]));
  }();
  return made;
}

}  // namespace

std::string authentication_config_seed() {
  return "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n- issuer:\n    url: https://i.example/p\n  "
         "  "
         "discoveryURL: https://d.example\n    audiences: [a, b]\n    audienceMatchPolicy: MatchAny\n    egressSelectorType: cluster\n  "
         "claimValidationRules:\n  - {claim: hd, requiredValue: e}\n  - {expression: 'claims.exp > 0', message: m}\n  claimMappings:\n    "
         "username: {expression: \"claims.?email.orValue('')\"}\n    groups: {claim: g, prefix: \"\"}\n    uid: {claim: u}\n    extra:\n   "
         " "
         "- {key: example.org/k, valueExpression: claims.email_verified}\n  userValidationRules:\n  - {expression: 'user.uid != \"\"'}\n"
         "anonymous: {enabled: true, conditions: [{path: /livez}]}\n";
}

// Checks that a configuration is refused, or that every entry has its expressions.
void authentication_config(std::string_view bytes) {
  const auto config = decode_authentication_config(bytes);
  if (!config.ok()) {
    FUZZ_REQUIRE(!config.status().message().empty());
    return;
  }
  const ValidatedConfig validated = validate(*config, {{"https://kubernetes"}, true});
  if (!validated.errors.empty()) return;
  FUZZ_REQUIRE(validated.expressions.size() == config->jwt.size());
  for (std::size_t i = 0; i < config->jwt.size(); ++i) {
    const JwtConfig& jwt = config->jwt[i];
    FUZZ_REQUIRE(jwt.username.claim.empty() == validated.expressions[i].username.has_value());
    FUZZ_REQUIRE(jwt.user_rules.size() == validated.expressions[i].user_rules.size());
    FUZZ_REQUIRE(jwt.extra.size() == validated.expressions[i].extra.size());
    FUZZ_REQUIRE(jwt.issuer.url != "https://kubernetes" && !jwt.issuer.audiences.empty());
  }
}

// Checks that an accepted payload has the configured issuer, and that the name of its user does not begin with "system:".
void id_tokens(std::string_view bytes) {
  const std::string token = "e30." + kit::to_base64url(bytes) + ".e30";
  const auto issuer = untrusted_issuer(token);
  (void)untrusted_issuer(bytes);
  const auto claims =
      check_id_token(bytes, {"https://issuer.example", {"app"}, std::chrono::system_clock::time_point(std::chrono::seconds(1000))});
  if (!claims.ok()) return;
  FUZZ_REQUIRE(issuer.ok() && *issuer == "https://issuer.example");
  const auto user = users().user_of(*claims);
  if (user.ok()) FUZZ_REQUIRE(!user->name.empty() && !user->name.starts_with("system:"));
}

}  // namespace backplane::fuzz

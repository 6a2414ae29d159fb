#include "config/validation.hpp"

#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/domain_path.hpp"
#include "backplane/types/url.hpp"
#include "config/certificates.hpp"
#include "config/url_parts.hpp"

namespace backplane::authentication {
namespace {

constexpr std::size_t kMostJwt = 64;
constexpr std::string_view kBothSet = "claim and expression can't both be set";

// Validates one entry of `jwt` and compiles its expressions.
class JwtValidator {
 public:
  JwtValidator(const JwtConfig& jwt, std::string path, const ValidationOptions& options, FieldErrors& errors)
      : jwt_(jwt), path_(std::move(path)), options_(options), errors_(errors) {}

  ClaimExpressions run() {
    issuer(at(path_, "issuer"));
    claim_rules(at(path_, "claimValidationRules"));
    claim_mappings(at(path_, "claimMappings"));
    user_rules(at(path_, "userValidationRules"));
    return std::move(out_);
  }

 private:
  void issuer(const std::string& path) {
    const IssuerConfig& issuer = jwt_.issuer;
    if (issuer.url.empty())
      errors_.required(at(path, "url"));
    else
      url(issuer.url, at(path, "url"), true);
    discovery_url(at(path, "discoveryURL"));
    audiences(at(path, "audiences"), at(path, "audienceMatchPolicy"));
    if (!issuer.certificate_authority.empty()) certificate_authority(at(path, "certificateAuthority"));
    egress_selector(at(path, "egressSelectorType"));
  }

  void url(const std::string& text, const std::string& path, bool is_issuer) {
    const auto& disallowed = options_.disallowed_issuers;
    if (is_issuer && std::find(disallowed.begin(), disallowed.end(), text) != disallowed.end()) {
      std::set<std::string> sorted(disallowed.begin(), disallowed.end());
      std::string all;
      for (const std::string& each : sorted) all.append(all.empty() ? "" : " ").append(each);
      errors_.invalid(path, text, "URL must not overlap with disallowed issuers: [" + all + "]");
    }
    if (const std::string problem = url_problem(text); !problem.empty()) return errors_.invalid(path, text, problem);
    const UrlParts parts = url_parts(text);
    if (parts.scheme != "https") errors_.invalid(path, text, "URL scheme must be https");
    if (parts.has_user) errors_.invalid(path, text, "URL must not contain a username or password");
    if (!parts.query.empty()) errors_.invalid(path, text, "URL must not contain a query");
    if (!parts.fragment.empty()) errors_.invalid(path, text, "URL must not contain a fragment");
  }

  static std::string_view without_slashes(std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
  }

  void discovery_url(const std::string& path) {
    const IssuerConfig& issuer = jwt_.issuer;
    if (issuer.discovery_url.empty()) return;
    if (!issuer.url.empty() && without_slashes(issuer.url) == without_slashes(issuer.discovery_url))
      errors_.invalid(path, issuer.discovery_url, "discoveryURL must be different from URL");
    url(issuer.discovery_url, path, false);
  }

  void audiences(const std::string& path, const std::string& policy_path) {
    const auto& audiences = jwt_.issuer.audiences;
    const std::string& policy = jwt_.issuer.audience_match_policy;
    if (audiences.empty()) return errors_.required(path, "at least one " + path + " is required");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < audiences.size(); ++i) {
      if (audiences[i].empty()) errors_.required(at(path, i));
      if (!seen.insert(audiences[i]).second) errors_.duplicate(at(path, i), audiences[i]);
    }
    if (policy == "MatchAny") return;
    if (audiences.size() > 1) errors_.invalid(policy_path, policy, "audienceMatchPolicy must be MatchAny for multiple audiences");
    if (audiences.size() == 1 && !policy.empty())
      errors_.invalid(policy_path, policy, "audienceMatchPolicy must be empty or MatchAny for single audience");
  }

  void certificate_authority(const std::string& path) {
    if (const std::string problem = certificates_problem(jwt_.issuer.certificate_authority); !problem.empty())
      errors_.invalid(path, "<omitted>", problem);
  }

  void egress_selector(const std::string& path) {
    const std::string& type = jwt_.issuer.egress_selector_type;
    if (type.empty()) return;
    if (!options_.egress_selector_gate) {
      errors_.invalid(path, type,
                      "egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled");
    }
    if (type != "controlplane" && type != "cluster") errors_.invalid(path, type, "egress selector must be either controlplane or cluster");
  }

  // Returns null after an error.
  std::shared_ptr<const cel::Program> compile(const std::string& expression, ExpressionOver over, bool must_be_bool,
                                              const std::string& path) {
    CompiledExpression compiled = compile_expression(expression, over, must_be_bool);
    if (compiled.program == nullptr) errors_.invalid(path, expression, compiled.problem);
    if (expression.find("__") != std::string::npos) out_.escaped_names = true;
    return std::move(compiled.program);
  }

  void claim_rules(const std::string& path) {
    std::set<std::string> claims, expressions;
    for (std::size_t i = 0; i < jwt_.claim_rules.size(); ++i) {
      const ClaimValidationRule& rule = jwt_.claim_rules[i];
      const std::string here = at(path, i);
      if (!rule.claim.empty() && !rule.expression.empty()) {
        errors_.invalid(here, rule.claim, kBothSet);
      } else if (rule.claim.empty() && rule.expression.empty()) {
        errors_.required(here, "claim or expression is required");
      } else if (!rule.claim.empty()) {
        if (!rule.message.empty()) errors_.invalid(at(here, "message"), rule.message, "may not be specified when claim is set");
        if (!claims.insert(rule.claim).second) errors_.duplicate(at(here, "claim"), rule.claim);
      } else {
        claim_expression_rule(rule, here, expressions);
      }
    }
  }

  void claim_expression_rule(const ClaimValidationRule& rule, const std::string& path, std::set<std::string>& seen) {
    if (!rule.required_value.empty())
      errors_.invalid(at(path, "requiredValue"), rule.required_value, "may not be specified when expression is set");
    if (!seen.insert(rule.expression).second) return errors_.duplicate(at(path, "expression"), rule.expression);
    auto program = compile(rule.expression, ExpressionOver::kClaims, true, at(path, "expression"));
    if (program == nullptr) return;
    email_verified_ = email_verified_ || selects_claim(rule.expression, "email_verified");
    out_.claim_rules.push_back({std::move(program), rule.message});
  }

  std::optional<ClaimExpression> prefixed(const ClaimMapping& mapping, const std::string& path, bool is_required) {
    if (!mapping.expression.empty() && !mapping.claim.empty()) {
      errors_.invalid(path, "", kBothSet);
    } else if (!mapping.expression.empty()) {
      if (mapping.prefix) errors_.invalid(at(path, "prefix"), *mapping.prefix, "may not be specified when expression is set");
      auto program = compile(mapping.expression, ExpressionOver::kClaims, false, at(path, "expression"));
      if (program != nullptr && !mapping.prefix) return ClaimExpression{std::move(program)};
    } else if (mapping.claim.empty()) {
      if (is_required) errors_.required(path, "claim or expression is required");
    } else if (!mapping.prefix) {
      errors_.required(at(path, "prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing");
    }
    return std::nullopt;
  }

  void claim_mappings(const std::string& path) {
    out_.username = prefixed(jwt_.username, at(path, "username"), true);
    if (out_.username) email_verified_ = email_verified_ || selects_claim(jwt_.username.expression, "email_verified");
    out_.groups = prefixed(jwt_.groups, at(path, "groups"), false);
    uid(at(path, "uid"));
    extra(at(path, "extra"));
    if (out_.username && selects_claim(jwt_.username.expression, "email") && !email_verified_) {
      errors_.invalid(at(path, "username.expression"), jwt_.username.expression,
                      "claims.email_verified must be used in claimMappings.username.expression or "
                      "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
                      "claimMappings.username.expression");
    }
  }

  void uid(const std::string& path) {
    if (!jwt_.uid.claim.empty() && !jwt_.uid.expression.empty()) return errors_.invalid(path, "", kBothSet);
    if (jwt_.uid.expression.empty()) return;
    auto program = compile(jwt_.uid.expression, ExpressionOver::kClaims, false, at(path, "expression"));
    if (program != nullptr) out_.uid = ClaimExpression{std::move(program)};
  }

  static bool is_reserved(std::string_view key) {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view domain = key.substr(0, slash);
    return domain == "kubernetes.io" || domain.ends_with(".kubernetes.io") || domain == "k8s.io" || domain.ends_with(".k8s.io");
  }

  void extra(const std::string& path) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < jwt_.extra.size(); ++i) {
      const ExtraMapping& mapping = jwt_.extra[i];
      const std::string here = at(path, i), key_path = at(here, "key");
      if (mapping.key.empty())
        errors_.required(key_path);
      else
        validate_domain_path(mapping.key, key_path, errors_);
      if (std::any_of(mapping.key.begin(), mapping.key.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
        errors_.invalid(key_path, mapping.key, "must be lowercase");
      if (is_reserved(mapping.key))
        errors_.invalid(key_path, mapping.key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
      if (!seen.insert(mapping.key).second) {
        errors_.duplicate(key_path, mapping.key);
        continue;
      }
      if (mapping.expression.empty()) {
        errors_.required(at(here, "valueExpression"));
        continue;
      }
      auto program = compile(mapping.expression, ExpressionOver::kClaims, false, at(here, "valueExpression"));
      if (program == nullptr) continue;
      email_verified_ = email_verified_ || selects_claim(mapping.expression, "email_verified");
      out_.extra.push_back({std::move(program), mapping.key});
    }
  }

  void user_rules(const std::string& path) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < jwt_.user_rules.size(); ++i) {
      const UserValidationRule& rule = jwt_.user_rules[i];
      const std::string here = at(at(path, i), "expression");
      if (rule.expression.empty()) {
        errors_.required(here);
      } else if (!seen.insert(rule.expression).second) {
        errors_.duplicate(here, rule.expression);
      } else if (auto program = compile(rule.expression, ExpressionOver::kUser, true, here); program != nullptr) {
        out_.user_rules.push_back({std::move(program), rule.message});
      }
    }
  }

  const JwtConfig& jwt_;
  const std::string path_;
  const ValidationOptions& options_;
  FieldErrors& errors_;
  ClaimExpressions out_;
  bool email_verified_ = false;
};

void validate_anonymous(const AnonymousConfig& anonymous, FieldErrors& errors) {
  if (anonymous.enabled || anonymous.paths.empty()) return;
  Array conditions;
  for (const std::string& path : anonymous.paths) conditions.push_back(Object{{"Path", path}});
  errors.invalid_raw("anonymous.conditions", to_json(conditions), "enabled should be set to true when conditions are defined");
}

}  // namespace

ValidatedConfig validate(const AuthenticationConfiguration& config, const ValidationOptions& options) {
  ValidatedConfig out;
  if (config.jwt.size() > kMostJwt) {
    out.errors.too_many("jwt", static_cast<long long>(config.jwt.size()), kMostJwt);
    return out;
  }
  std::set<std::string> issuers, discovery_urls;
  for (std::size_t i = 0; i < config.jwt.size(); ++i) {
    const std::string path = at("jwt", i);
    const IssuerConfig& issuer = config.jwt[i].issuer;
    out.expressions.push_back(JwtValidator(config.jwt[i], path, options, out.errors).run());
    if (!issuers.insert(issuer.url).second) out.errors.duplicate(at(path, "issuer.url"), issuer.url);
    if (!issuer.discovery_url.empty() && !discovery_urls.insert(issuer.discovery_url).second)
      out.errors.duplicate(at(path, "issuer.discoveryURL"), issuer.discovery_url);
  }
  if (config.anonymous) validate_anonymous(*config.anonymous, out.errors);
  return out;
}

}  // namespace backplane::authentication

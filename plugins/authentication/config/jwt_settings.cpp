#include "config/jwt_settings.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "backplane/host.hpp"
#include "backplane/kit/watched_file.hpp"
#include "flag_list.hpp"

namespace backplane::authentication {
namespace {

constexpr std::array<std::string_view, 9> kOidcFlags{"oidc-issuer-url",     "oidc-client-id",    "oidc-ca-file",
                                                     "oidc-username-claim", "oidc-groups-claim", "oidc-username-prefix",
                                                     "oidc-groups-prefix",  "oidc-signing-algs", "oidc-required-claim"};

std::string text(const Host& host, std::string_view flag) { return host.flag(flag).value_or(""); }

bool is_set(const Host& host, std::string_view flag) { return text(host, "changed." + std::string(flag)) == "true"; }

bool any_oidc_flag(const Host& host) {
  return std::any_of(kOidcFlags.begin(), kOidcFlags.end(), [&](std::string_view flag) { return is_set(host, flag); });
}

Status check_combinations(const Host& host) {
  const bool oidc = any_oidc_flag(host);
  if (!text(host, "authentication-config").empty())
    return oidc ? bad_request("authentication-config file and oidc-* flags are mutually exclusive") : Status();
  if (!oidc || (!text(host, "oidc-issuer-url").empty() && !text(host, "oidc-client-id").empty())) return {};
  return bad_request("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set");
}

// Returns the prefix that distinguishes the users of the issuer from other users. The flag's value "-" means no prefix.
std::string username_prefix(const Host& host) {
  std::string prefix = text(host, "oidc-username-prefix");
  if (prefix == "-") return {};
  if (prefix.empty() && text(host, "oidc-username-claim") != "email") return text(host, "oidc-issuer-url") + "#";
  return prefix;
}

// Reads key=value from each use of the flag; of a repeated key, the last value counts. The host joins all uses by commas, but a value may
// contain commas, too. Therefore a part without '=' continues the value that precedes it.
Result<std::vector<ClaimValidationRule>> required_claims(const Host& host) {
  std::map<std::string, std::string> claims;
  std::string* value = nullptr;
  for (const std::string& each : flag_list(host, "oidc-required-claim")) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos && value == nullptr) return bad_request("--oidc-required-claim: malformed pair, expect string=string");
    if (equals == std::string::npos) {
      value->append(",").append(each);
      continue;
    }
    value = &claims[each.substr(0, equals)];
    *value = each.substr(equals + 1);
  }
  std::vector<ClaimValidationRule> rules;
  for (const auto& [claim, value] : claims) rules.push_back({claim, value, {}, {}});
  return rules;
}

Result<JwtConfig> jwt_of_flags(const Host& host) {
  JwtConfig out;
  out.issuer.url = text(host, "oidc-issuer-url");
  out.issuer.audiences = {text(host, "oidc-client-id")};
  out.username.claim = text(host, "oidc-username-claim");
  out.username.prefix = username_prefix(host);
  if (std::string claim = text(host, "oidc-groups-claim"); !claim.empty()) {
    out.groups.claim = std::move(claim);
    out.groups.prefix = text(host, "oidc-groups-prefix");
  }
  if (const std::string file = text(host, "oidc-ca-file"); !file.empty()) {
    auto content = kit::read_bounded_file(file);
    if (!content.ok()) return std::move(content).status();
    out.issuer.certificate_authority = std::move(*content);
  }
  auto rules = required_claims(host);
  if (!rules.ok()) return std::move(rules).status();
  out.claim_rules = std::move(*rules);
  return out;
}

Status read_file(const Host& host, JwtSettings& settings) {
  const std::string head = "failed to load authentication configuration from file " + backplane::quoted(settings.file) + ": ";
  auto content = kit::read_bounded_file(settings.file);
  if (!content.ok()) return bad_request(head + content.status().message());
  auto config = decode_authentication_config(*content);
  if (!config.ok()) return bad_request(head + config.status().message());
  if (config->anonymous && is_set(host, "anonymous-auth")) {
    return bad_request(
        "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration "
        "file");
  }
  settings.content = std::move(*content);
  settings.config = std::move(*config);
  settings.algorithms = SigningAlgorithms::all();
  return {};
}

Status read_flags(const Host& host, JwtSettings& settings) {
  if (text(host, "oidc-issuer-url").empty() || text(host, "oidc-client-id").empty()) return {};
  auto jwt = jwt_of_flags(host);
  if (!jwt.ok()) return std::move(jwt).status();
  settings.config.jwt.push_back(std::move(*jwt));
  auto algorithms = SigningAlgorithms::of(flag_list(host, "oidc-signing-algs"));
  if (!algorithms.ok()) return std::move(algorithms).status();
  settings.algorithms = std::move(*algorithms);
  return {};
}

}  // namespace

Result<JwtSettings> read_jwt_settings(const Host& host) {
  JwtSettings out;
  if (Status status = check_combinations(host); !status.ok()) return status;
  out.file = text(host, "authentication-config");
  out.validation.disallowed_issuers = flag_list(host, "service-account-issuer");
  out.validation.egress_selector_gate = text(host, "feature-gates.StructuredAuthenticationConfigurationEgressSelector") == "true";
  Status status = out.file.empty() ? read_flags(host, out) : read_file(host, out);
  if (!status.ok()) return status;
  ValidatedConfig validated = validate(out.config, out.validation);
  if (!validated.errors.empty()) return bad_request("invalid authentication configuration: " + validated.errors.aggregate_message());
  out.expressions = std::move(validated.expressions);
  return out;
}

}  // namespace backplane::authentication

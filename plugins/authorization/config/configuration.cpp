#include "config/configuration.hpp"

#include <algorithm>

#include "authorization_config_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/durations.hpp"
#include "config/configuration_rules.hpp"

namespace backplane::authorization {
namespace {

const kit::ConfigDecoder& decoder() {
  static const kit::ConfigDecoder kDecoder("AuthorizationConfiguration", {"v1", "v1beta1", "v1alpha1"}, authorization_config_json());
  return kDecoder;
}

std::chrono::nanoseconds duration_of(const Object& object, std::string_view key) {
  return parse_duration(get_string(object, key)).value_or(std::chrono::nanoseconds(0));
}

WebhookConfig webhook_of(const Object& object) {
  WebhookConfig out;
  if (const auto ttl = duration_of(object, "authorizedTTL"); ttl.count() != 0) out.authorized_ttl = ttl;
  if (const auto ttl = duration_of(object, "unauthorizedTTL"); ttl.count() != 0) out.unauthorized_ttl = ttl;
  out.cache_authorized = get_bool(object, "cacheAuthorizedRequests").value_or(true);
  out.cache_unauthorized = get_bool(object, "cacheUnauthorizedRequests").value_or(true);
  out.timeout = duration_of(object, "timeout");
  out.review_version = get_string(object, "subjectAccessReviewVersion");
  out.condition_version = get_string(object, "matchConditionSubjectAccessReviewVersion");
  out.failure_policy = get_string(object, "failurePolicy");
  const Object& connection = object_or_empty(object, "connectionInfo");
  out.connection_type = get_string(connection, "type");
  if (has(connection, "kubeConfigFile")) out.kubeconfig = std::string(get_string(connection, "kubeConfigFile"));
  each(object, "matchConditions",
       [&](const Object& condition, std::size_t) { out.match_conditions.emplace_back(get_string(condition, "expression")); });
  return out;
}

// The names of authorizers that are not webhooks are fixed, so that their metrics have the same labels whether flags or a file configure
// them.
Status check_names(const AuthorizationConfig& config, const std::set<std::string>& required_types) {
  std::vector<std::string> problems;
  std::set<std::string> missing = required_types;
  for (const AuthorizerConfig& each : config.authorizers) {
    if (each.type == "Webhook") continue;
    missing.erase(each.type);
    const std::string expected = lower_case(each.type);
    if (each.name != expected)
      problems.push_back("expected name " + expected + " for authorizer " + each.type + " instead of " + each.name);
  }
  if (!missing.empty()) problems.push_back("missing required types: [" + joined({missing.begin(), missing.end()}, " ") + "]");
  if (problems.empty()) return {};
  return bad_request(problems.size() == 1 ? problems.front() : "[" + joined(problems, ", ") + "]");
}

}  // namespace

Result<AuthorizationConfig> load_configuration(std::string_view text, const std::set<std::string>& required_types) {
  AuthorizationConfig config;
  if (!text.empty()) {
    auto document = decoder().decode(text);
    if (!document.ok()) return bad_request("failed to load AuthorizationConfiguration from file: " + document.status().message());
    each(document->object, "authorizers", [&](const Object& item, std::size_t) {
      AuthorizerConfig made{std::string(get_string(item, "type")), std::string(get_string(item, "name")), std::nullopt};
      if (const Object* webhook = get_object(item, "webhook")) made.webhook = webhook_of(*webhook);
      config.authorizers.push_back(std::move(made));
    });
  }
  FieldErrors errors;
  validate_configuration(config, errors);
  if (!errors.empty()) return bad_request(errors.aggregate_message());
  if (Status status = check_names(config, required_types); !status.ok()) return status;
  return config;
}

std::string duration_text(std::chrono::nanoseconds duration) {
  auto count = duration.count();
  if (count == 0) return "0s";
  const std::string sign = count < 0 ? "-" : "";
  // The smallest value has no positive counterpart.
  auto left = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  const auto with_fraction = [](std::uint64_t value, std::uint64_t unit) {
    std::string out = std::to_string(value / unit);
    if (value % unit == 0) return out;
    std::string fraction = std::to_string(unit + value % unit).substr(1);
    while (fraction.ends_with('0')) fraction.pop_back();
    return out + "." + fraction;
  };
  if (left < 1'000) return sign + std::to_string(left) + "ns";
  if (left < 1'000'000) return sign + with_fraction(left, 1'000) + "µs";
  if (left < 1'000'000'000) return sign + with_fraction(left, 1'000'000) + "ms";
  constexpr std::uint64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
  std::string out = sign;
  if (left >= kHour) out += std::to_string(left / kHour) + "h";
  if (left >= kMinute) out += std::to_string(left % kHour / kMinute) + "m";
  return out + with_fraction(left % kMinute, kSecond) + "s";
}

}  // namespace backplane::authorization

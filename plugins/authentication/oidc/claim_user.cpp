#include "oidc/claim_user.hpp"

#include "oidc/id_token.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kCredentialIdKey = "authentication.kubernetes.io/credential-id";

// Reads a claim as Go's decoder reads a string; null is an empty string.
Result<std::string> text_claim(const Object& claims, const std::string& name) {
  const Value* value = find(claims, name);
  if (value == nullptr) return unauthorized("claim not present");
  if (value->is_null()) return std::string();
  if (!value->is_string()) return unauthorized(cannot_unmarshal(*value, "Go value of type string"));
  return std::string(value->get_string());
}

// Reads a list of strings, or one string.
Result<std::vector<std::string>> texts_claim(const Value& value) {
  std::vector<std::string> out;
  if (value.is_null()) return out;
  if (value.is_string()) return std::vector<std::string>{std::string(value.get_string())};
  if (!value.is_array()) return unauthorized(cannot_unmarshal(value, "Go value of type string"));
  for (const Value& each : value.get_array()) {
    if (!each.is_string() && !each.is_null()) return unauthorized(cannot_unmarshal(value, "Go value of type string"));
    out.emplace_back(each.is_string() ? std::string_view(each.get_string()) : std::string_view());
  }
  return out;
}

Status in_expression(std::string_view what, const Status& why) {
  return unauthorized("oidc: error evaluating " + std::string(what) + " claim expression: " + why.message());
}

// Evaluates an expression whose result must be a string.
Result<std::string> text_result(const ClaimExpression& expression, const ClaimsValue& values, std::string_view what) {
  auto result = values.evaluate(expression);
  if (!result.ok()) return in_expression(what, result.status());
  if (!result->is_string()) return in_expression(what, unauthorized(std::string(what) + " claim expression must return a string"));
  return std::string(result->get_string());
}

Status check_email(const Object& claims) {
  const Value* verified = find(claims, "email_verified");
  if (verified == nullptr) return {};
  if (!verified->is_bool() && !verified->is_null())
    return unauthorized("oidc: parse 'email_verified' claim: " + cannot_unmarshal(*verified, "Go value of type bool"));
  if (verified->is_null() || !verified->get_bool()) return unauthorized("oidc: email not verified");
  return {};
}

}  // namespace

Result<std::string> ClaimUser::username(const Object& claims, const ClaimsValue* values) const {
  if (expressions_.username) {
    auto name = text_result(*expressions_.username, *values, "username");
    if (name.ok() && name->empty()) return unauthorized("oidc: empty username via CEL expression is not allowed");
    return name;
  }
  auto name = text_claim(claims, config_.username.claim);
  if (!name.ok())
    return unauthorized("oidc: parse username claims " + backplane::quoted(config_.username.claim) + ": " + name.status().message());
  if (config_.username.claim == "email") {
    if (Status status = check_email(claims); !status.ok()) return status;
  }
  return config_.username.prefix.value_or("") + *name;
}

Result<std::vector<std::string>> ClaimUser::groups(const Object& claims, const ClaimsValue* values) const {
  const Value* claim = config_.groups.claim.empty() ? nullptr : find(claims, config_.groups.claim);
  if (claim != nullptr) {
    auto groups = texts_claim(*claim);
    if (!groups.ok())
      return unauthorized("oidc: parse groups claim " + backplane::quoted(config_.groups.claim) + ": " + groups.status().message());
    for (std::string& group : *groups) group.insert(0, config_.groups.prefix.value_or(""));
    return groups;
  }
  if (!expressions_.groups) return std::vector<std::string>();
  auto result = values->evaluate(*expressions_.groups);
  if (!result.ok()) return in_expression("group", result.status());
  auto groups = string_list(*result);
  if (!groups.ok()) return in_expression("group", groups.status());
  return groups;
}

Result<std::string> ClaimUser::uid(const Object& claims, const ClaimsValue* values) const {
  if (!config_.uid.claim.empty()) {
    auto uid = text_claim(claims, config_.uid.claim);
    if (!uid.ok()) return unauthorized("oidc: parse uid claim " + backplane::quoted(config_.uid.claim) + ": " + uid.status().message());
    return uid;
  }
  if (!expressions_.uid) return std::string();
  return text_result(*expressions_.uid, *values, "uid");
}

Status ClaimUser::add_extra(const Object& claims, const ClaimsValue* values, UserInfo& user) const {
  if (const std::string_view id = get_string(claims, "jti"); !id.empty())
    user.extra.emplace_back(std::string(kCredentialIdKey), std::vector<std::string>{"JTI=" + std::string(id)});
  std::vector<Value> results;
  for (const ClaimExpression& each : expressions_.extra) {
    auto result = values->evaluate(each);
    if (!result.ok()) return std::move(result).status();
    results.push_back(std::move(*result));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ClaimExpression& each = expressions_.extra[i];
    auto texts = string_list(results[i]);
    if (!texts.ok()) {
      return unauthorized("oidc: error evaluating extra claim expression: " + std::string(each.program->source()) + ": " +
                          texts.status().message());
    }
    if (!texts->empty()) user.extra.emplace_back(each.label, std::move(*texts));
  }
  return {};
}

Status ClaimUser::check_required(const Object& claims) const {
  for (const ClaimValidationRule& rule : config_.claim_rules) {
    if (rule.claim.empty()) continue;
    if (find(claims, rule.claim) == nullptr) return unauthorized("oidc: required claim " + rule.claim + " not present in ID token");
    auto value = text_claim(claims, rule.claim);
    if (!value.ok()) return unauthorized("oidc: parse claim " + rule.claim + ": " + value.status().message());
    if (*value != rule.required_value) {
      return unauthorized("oidc: required claim " + rule.claim + " value does not match. Got = " + *value +
                          ", want = " + rule.required_value);
    }
  }
  return {};
}

Result<UserInfo> ClaimUser::user_of(const Object& claims) const {
  std::optional<ClaimsValue> prepared;
  if (expressions_.over_claims()) prepared.emplace(claims, expressions_.escaped_names);
  const ClaimsValue* const values = prepared ? &*prepared : nullptr;
  UserInfo user;
  auto name = username(claims, values);
  if (!name.ok()) return std::move(name).status();
  user.name = std::move(*name);
  auto group_names = groups(claims, values);
  if (!group_names.ok()) return std::move(group_names).status();
  user.groups = std::move(*group_names);
  auto id = uid(claims, values);
  if (!id.ok()) return std::move(id).status();
  user.uid = std::move(*id);
  Status status = add_extra(claims, values, user);
  if (status.ok()) status = check_required(claims);
  if (!status.ok()) return status;
  if (values != nullptr) {
    if (status = values->check(expressions_.claim_rules); !status.ok())
      return unauthorized("oidc: error evaluating claim validation expression: " + status.message());
  }
  status = check_user_rules(expressions_.user_rules, user, expressions_.escaped_names);
  if (!status.ok()) return unauthorized("oidc: error evaluating user info validation rule: " + status.message());
  return user;
}

}  // namespace backplane::authentication

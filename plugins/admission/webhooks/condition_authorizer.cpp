#include "webhooks/condition_authorizer.hpp"

namespace backplane::admission::webhooks {
namespace {

std::string check_key(const cel::AccessQuestion& question) {
  std::string key;
  for (const std::string_view part :
       {question.account_namespace, question.account, question.verb, question.path, question.group, question.resource, question.subresource,
        question.namespace_name, question.name, question.field_selector, question.label_selector}) {
    key.append(part).push_back('\0');
  }
  return key;
}

cel::AccessAnswer answer_of(const AuthorizerResult& result) {
  return {result.decision == Decision::kAllow, result.reason, result.error.ok() ? std::string() : result.error.message()};
}

UserInfo account_user(std::string_view ns, std::string_view name) {
  UserInfo user;
  user.name = "system:serviceaccount:" + std::string(ns) + ":" + std::string(name);
  user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
  return user;
}

}  // namespace

AuthorizationAttributes ConditionAuthorizer::attributes_of(const cel::AccessQuestion& question) const {
  AuthorizationAttributes out;
  out.user = question.account.empty() ? user_ : UserRef(account_user(question.account_namespace, question.account));
  out.verb = question.verb;
  out.resource_request = question.resource_request;
  out.path = question.path;
  if (!question.resource_request) return out;
  out.api_group = question.group;
  out.api_version = "*";
  out.ns = question.namespace_name;
  out.resource = question.resource;
  out.subresource = question.subresource;
  out.name = question.name;
  if (auto fields = FieldSelector::parse(question.field_selector); fields.ok()) out.fields = std::move(*fields);
  if (auto labels = LabelSelector::parse(question.label_selector); labels.ok()) out.labels = std::move(*labels);
  return out;
}

cel::AccessAnswer ConditionAuthorizer::check(const cel::AccessQuestion& question) const {
  std::string key = check_key(question);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  AuthorizationAttributes attributes = attributes_of(question);
  if (auto decided = authorizers_.decide_now(RequestView(attributes))) return answer_of(*decided);
  open_.emplace(std::move(key), std::move(attributes));
  return {false, {}, "the authorizer has not answered yet"};
}

Task<void> ConditionAuthorizer::resolve() {
  const auto open = std::exchange(open_, {});
  for (const auto& [key, attributes] : open) {
    auto asking = authorizers_.authorize(attributes);
    const AuthorizerResult result = co_await std::move(asking);
    known_.emplace(key, answer_of(result));
  }
}

}  // namespace backplane::admission::webhooks

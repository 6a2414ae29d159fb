#include "common/access_checks.hpp"

namespace backplane::admission {
namespace {

UserRef service_account(std::string_view ns, std::string_view name) {
  UserInfo user;
  user.name = "system:serviceaccount:" + std::string(ns) + ":" + std::string(name);
  user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
  return user;
}

void read_selectors(const cel::AccessQuestion& question, AuthorizationAttributes& out) {
  if (!question.field_selector.empty()) {
    auto fields = FieldSelector::parse(question.field_selector);
    if (fields.ok()) {
      out.fields = std::move(*fields);
    } else {
      out.fields_error = std::move(fields.status());
    }
  }
  if (question.label_selector.empty()) return;
  auto labels = LabelSelector::parse(question.label_selector);
  if (labels.ok()) {
    out.labels = std::move(*labels);
  } else {
    out.labels_error = std::move(labels.status());
  }
}

AuthorizationAttributes attributes_of(const cel::AccessQuestion& question, const UserRef& user) {
  AuthorizationAttributes out;
  out.user = question.account.empty() ? user : service_account(question.account_namespace, question.account);
  out.verb = question.verb;
  out.resource_request = question.resource_request;
  if (!question.resource_request) {
    out.path = question.path;
    return out;
  }
  out.api_group = question.group;
  out.api_version = "*";
  out.ns = question.namespace_name;
  out.resource = question.resource;
  out.subresource = question.subresource;
  out.name = question.name;
  read_selectors(question, out);
  return out;
}

std::string key_of(const cel::AccessQuestion& question) {
  std::string out;
  for (const std::string_view part :
       {question.account_namespace, question.account, question.verb, question.path, question.group, question.resource, question.subresource,
        question.namespace_name, question.name, question.field_selector, question.label_selector}) {
    out.append(part).push_back('\0');
  }
  return out;
}

cel::AccessAnswer answer_of(const AuthorizerResult& result) {
  return {result.decision == Decision::kAllow, result.reason, result.error.ok() ? std::string() : result.error.message()};
}

}  // namespace

cel::AccessAnswer AccessChecks::check(const cel::AccessQuestion& question) const {
  std::string key = key_of(question);
  if (const auto known = answers_.find(key); known != answers_.end()) return known->second;
  AuthorizationAttributes attributes = attributes_of(question, user_);
  if (const auto decided = host_.authorizer().decide_now(RequestView(attributes))) {
    return answers_.emplace(std::move(key), answer_of(*decided)).first->second;
  }
  unanswered_.emplace_back(std::move(key), std::move(attributes));
  return {};
}

Task<void> AccessChecks::wait() {
  for (auto& [key, attributes] : unanswered_) {
    auto asking = host_.authorizer().authorize(attributes);
    const AuthorizerResult result = co_await std::move(asking);
    answers_.insert_or_assign(std::move(key), answer_of(result));
  }
  unanswered_.clear();
}

}  // namespace backplane::admission

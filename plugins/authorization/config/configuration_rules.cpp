#include "config/configuration_rules.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/names.hpp"
#include "webhook/match_conditions.hpp"

namespace backplane::authorization {
namespace {

constexpr const char* kKubeConfigFile = "KubeConfigFile";
constexpr const char* kInClusterConfig = "InClusterConfig";

void check_ttl(std::chrono::nanoseconds ttl, std::string field, FieldErrors& errors) {
  if (ttl.count() < 0) errors.invalid(std::move(field), duration_text(ttl), "must be > 0s");
}

void check_timeout(std::chrono::nanoseconds timeout, const std::string& field, FieldErrors& errors) {
  if (timeout.count() == 0) {
    errors.required(field);
  } else if (timeout > std::chrono::seconds(30) || timeout.count() < 0) {
    errors.invalid(field, duration_text(timeout), "must be > 0s and <= 30s");
  }
}

// `required`: the detail of the error if the value is empty; null: the value may be empty.
void check_choice(const std::string& value, const std::vector<std::string>& choices, const std::string& field, const char* required,
                  FieldErrors& errors) {
  if (value.empty()) {
    if (required != nullptr) errors.required(field, required);
  } else if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    errors.not_supported(field, value, choices);
  }
}

void check_file(const std::string& file, const std::string& field, FieldErrors& errors) {
  struct stat info {};
  if (!file.starts_with('/')) {
    errors.invalid(field, file, "must be an absolute path");
  } else if (stat(file.c_str(), &info) != 0) {
    const std::string why = errno == ENOENT ? "no such file or directory" : std::strerror(errno);
    errors.invalid(field, file, "error loading file: stat " + file + ": " + why);
  } else if (!S_ISREG(info.st_mode)) {
    errors.invalid(field, file, "must be a regular file");
  }
}

void check_connection(const WebhookConfig& webhook, const std::string& path, FieldErrors& errors) {
  const std::string type = at(path, "type"), file = at(path, "kubeConfigFile");
  if (webhook.connection_type.empty()) {
    errors.required(type);
  } else if (webhook.connection_type == kInClusterConfig) {
    if (webhook.kubeconfig) errors.invalid(file, *webhook.kubeconfig, "can only be set when type=KubeConfigFile");
  } else if (webhook.connection_type == kKubeConfigFile) {
    if (webhook.kubeconfig.value_or("").empty()) {
      errors.required(file);
    } else {
      check_file(*webhook.kubeconfig, file, errors);
    }
  } else {
    errors.not_supported(type, webhook.connection_type, {kInClusterConfig, kKubeConfigFile});
  }
}

// As in kube-apiserver, the paths of the fields lack the element `webhook`.
void check_webhook(const WebhookConfig& webhook, const std::string& path, FieldErrors& errors) {
  check_timeout(webhook.timeout, at(path, "timeout"), errors);
  check_ttl(webhook.authorized_ttl, at(path, "authorizedTTL"), errors);
  check_ttl(webhook.unauthorized_ttl, at(path, "unauthorizedTTL"), errors);
  check_choice(webhook.review_version, {"v1", "v1beta1"}, at(path, "subjectAccessReviewVersion"), "", errors);
  check_choice(webhook.condition_version, {"v1"}, at(path, "matchConditionSubjectAccessReviewVersion"),
               webhook.match_conditions.empty() ? nullptr : "required if match conditions are specified", errors);
  check_choice(webhook.failure_policy, {"NoOpinion", "Deny"}, at(path, "failurePolicy"), "", errors);
  check_connection(webhook, at(path, "connectionInfo"), errors);
  static_cast<void>(MatchConditions::compile(webhook.match_conditions, path, errors));
}

// Returns false if the type is not valid. The other members of the authorizer are then not validated.
bool check_type(const AuthorizerConfig& authorizer, std::set<std::string>& seen, const std::string& field, FieldErrors& errors) {
  const std::size_t before = errors.size();
  check_choice(authorizer.type, {"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"}, field, "", errors);
  if (errors.size() == before && seen.contains(authorizer.type) && authorizer.type != "Webhook") errors.duplicate(field, authorizer.type);
  if (errors.size() == before) seen.insert(authorizer.type);
  return errors.size() == before;
}

void check_name(const std::string& name, std::set<std::string>& seen, const std::string& field, FieldErrors& errors) {
  if (name.empty()) {
    errors.required(field);
  } else if (seen.contains(name)) {
    errors.duplicate(field, name);
  } else if (const auto problems = is_dns1123_subdomain(name); !problems.empty()) {
    errors.invalid(field, name, "authorizer name is invalid: " + joined({problems.begin(), problems.end()}, ", "));
  }
  seen.insert(name);
}

// Refuses the connection type InClusterConfig. kube-apiserver accepts it, and crashes with a nil pointer dereference if all other members
// are valid.
void check_own_connections(const AuthorizationConfig& config, FieldErrors& errors) {
  for (std::size_t i = 0; i < config.authorizers.size(); ++i) {
    const auto& webhook = config.authorizers[i].webhook;
    if (!webhook || webhook->connection_type != kInClusterConfig) continue;
    errors.invalid(at(at("authorizers", i), "connectionInfo.type"), webhook->connection_type, "not allowed for kube-apiserver");
  }
}

}  // namespace

void validate_configuration(const AuthorizationConfig& config, FieldErrors& errors) {
  if (config.authorizers.empty()) errors.required("authorizers", "at least one authorization mode must be defined");
  std::set<std::string> types, names;
  for (std::size_t i = 0; i < config.authorizers.size(); ++i) {
    const AuthorizerConfig& authorizer = config.authorizers[i];
    const std::string path = at("authorizers", i);
    if (!check_type(authorizer, types, at(path, "type"), errors)) continue;
    check_name(authorizer.name, names, at(path, "name"), errors);
    const std::string webhook = at(path, "webhook");
    if (authorizer.type != "Webhook") {
      if (authorizer.webhook) errors.invalid(webhook, "non-null", "may only be specified when type=Webhook");
    } else if (!authorizer.webhook) {
      errors.required(webhook, "required when type=Webhook");
    } else {
      check_webhook(*authorizer.webhook, path, errors);
    }
  }
  if (errors.empty()) check_own_connections(config, errors);
}

}  // namespace backplane::authorization

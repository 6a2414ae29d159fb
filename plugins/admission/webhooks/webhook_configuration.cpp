#include "webhooks/webhook_configuration.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/durations.hpp"
#include "backplane/types/schema.hpp"
#include "manifests/manifest_directory.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kConfigurationSchema = R"({"definitions": {
"io.k8s.apiserver.webhookadmission.$version.WebhookAdmission": {
  "x-kubernetes-group-version-kind": [
    {"group": "apiserver.config.k8s.io", "kind": "WebhookAdmissionConfiguration", "version": "$version"}],
  "type": "object", "properties": {
  "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
  "kubeConfigFile": {"type": "string"},
  "staticManifestsDir": {"type": "string"},
  "chainBudget": {"type": "string"},
  "circuitBreakerFailures": {"type": "integer", "format": "int32"},
  "failOpenForOwnService": {"type": "boolean", "x-backplane-pointer": true}}}}})";

constexpr std::string_view kTarget = "webhook";  // the names of cluster, user and context in the kubeconfig that for_address() makes

Status bad_kubeconfig(const std::string& file, std::string_view why) { return bad_request(file + ": " + std::string(why)); }

Result<std::chrono::nanoseconds> read_budget(const Object& object) {
  const std::string_view text = get_string(object, "chainBudget");
  if (text.empty()) return std::chrono::nanoseconds(0);
  const auto budget = parse_duration(text);
  if (budget && budget->count() >= 0) return *budget;
  return bad_request("chainBudget: Invalid value: " + backplane::quoted(text) + ": must be a duration that is not negative");
}

// A list with one named entry.
Array named_entry(std::string_view name, std::string_view member, Object value) {
  Object entry;
  entry["name"] = name;
  entry[member] = std::move(value);
  Array list;
  list.push_back(std::move(entry));
  return list;
}

}  // namespace

Result<std::shared_ptr<const WebhookCredentials>> WebhookCredentials::read(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return bad_kubeconfig(file, std::strerror(errno == 0 ? ENOENT : errno));
  std::ostringstream text;
  text << in.rdbuf();
  return parse(text.str(), file);
}

Result<std::shared_ptr<const WebhookCredentials>> WebhookCredentials::parse(std::string_view text, const std::string& file) {
  auto parsed = parse_yaml(text, json::storage_ptr(), nullptr);
  // The parser's message may quote a line with a secret.
  if (!parsed.ok()) return bad_kubeconfig(file, "is not valid YAML");
  if (!parsed->is_object()) return bad_kubeconfig(file, "must be a kubeconfig");
  auto out = std::make_shared<WebhookCredentials>();
  out->config_ = std::move(parsed->get_object());
  out->file_ = file;
  return std::shared_ptr<const WebhookCredentials>(std::move(out));
}

bool WebhookCredentials::has_user(std::string_view name) const { return find_item(config_, "users", "name", name) != nullptr; }

std::string WebhookCredentials::user_at(const std::string& address) const {
  if (has_user(address)) return address;
  for (std::size_t dot = address.find('.'); dot != std::string::npos; dot = address.find('.', dot + 1)) {
    std::string pattern = "*" + address.substr(dot);
    if (has_user(pattern)) return pattern;
  }
  return {};
}

std::string WebhookCredentials::user_for(const std::string& address) const {
  std::string user = user_at(address);
  if (user.empty() && address.ends_with(":443")) user = user_at(address.substr(0, address.size() - 4));
  if (!user.empty()) return user;
  if (has_user("*")) return "*";
  const Object* context = find_item(config_, "contexts", "name", get_string(config_, "current-context"));
  const std::string_view current = context != nullptr ? get_string(object_or_empty(*context, "context"), "user") : std::string_view();
  return !current.empty() && has_user(current) ? std::string(current) : std::string();
}

Result<kit::KubeconfigServer> WebhookCredentials::for_address(const std::string& address) const {
  const std::string name = user_for(address);
  if (name.empty()) return kit::KubeconfigServer();
  Object cluster, context;
  cluster["server"] = "https://" + address;
  context["cluster"] = kTarget;
  context["user"] = kTarget;
  Object config;
  config["clusters"] = named_entry(kTarget, "cluster", std::move(cluster));
  config["contexts"] = named_entry(kTarget, "context", std::move(context));
  config["users"] = named_entry(kTarget, "user", object_or_empty(*find_item(config_, "users", "name", name), "user"));
  config["current-context"] = kTarget;
  return kit::parse_kubeconfig(to_json(config), file_);
}

Result<WebhookConfiguration> parse_webhook_configuration(const std::string& text, bool manifests) {
  WebhookConfiguration out;
  if (text.empty()) return out;
  const kit::ConfigDecoder decoder("WebhookAdmissionConfiguration", {"v1"}, kConfigurationSchema);
  auto document = decoder.decode(text);
  if (!document.ok()) return std::move(document.status());
  const Object& object = document->object;
  const std::string file(get_string(object, "kubeConfigFile"));
  if (!file.empty() && !file.starts_with('/')) {
    return bad_request("kubeConfigFile: Invalid value: " + backplane::quoted(file) + ": must be an absolute file path");
  }
  out.manifests_directory = get_string(object, "staticManifestsDir");
  if (Status usable = manifests::check_directory(out.manifests_directory, manifests); !usable.ok()) return usable;
  if (!file.empty()) {
    auto credentials = WebhookCredentials::read(file);
    if (!credentials.ok()) return std::move(credentials.status());
    out.credentials = std::move(*credentials);
  }
  auto budget = read_budget(object);
  if (!budget.ok()) return std::move(budget.status());
  out.chain_budget = *budget;
  out.circuit_breaker_failures = static_cast<int>(get_int(object, "circuitBreakerFailures").value_or(0));
  out.fail_open_for_own_service = get_bool(object, "failOpenForOwnService").value_or(true);
  if (out.circuit_breaker_failures >= 0) return out;
  return bad_request("circuitBreakerFailures: Invalid value: " + std::to_string(out.circuit_breaker_failures) + ": must not be negative");
}

}  // namespace backplane::admission::webhooks

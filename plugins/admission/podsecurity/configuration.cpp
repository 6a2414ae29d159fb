#include "podsecurity/configuration.hpp"

#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/names.hpp"
#include "common/aggregate.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::string_view kConfigurationSchema = R"({"definitions": {
  "io.k8s.pod-security-admission.admission.api.$version.PodSecurityConfiguration": {
    "x-kubernetes-group-version-kind": [
      {"group": "pod-security.admission.config.k8s.io", "kind": "PodSecurityConfiguration", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "defaults": {"$ref": "#/definitions/io.k8s.pod-security-admission.admission.api.$version.PodSecurityDefaults"},
      "exemptions": {"$ref": "#/definitions/io.k8s.pod-security-admission.admission.api.$version.PodSecurityExemptions"}
    }},
  "io.k8s.pod-security-admission.admission.api.$version.PodSecurityDefaults": {"type": "object", "properties": {
    "enforce": {"type": "string"},
    "enforce-version": {"type": "string"},
    "audit": {"type": "string"},
    "audit-version": {"type": "string"},
    "warn": {"type": "string"},
    "warn-version": {"type": "string"}
  }},
  "io.k8s.pod-security-admission.admission.api.$version.PodSecurityExemptions": {"type": "object", "properties": {
    "usernames": {"type": "array", "items": {"type": "string"}},
    "namespaces": {"type": "array", "items": {"type": "string"}},
    "runtimeClasses": {"type": "array", "items": {"type": "string"}}
  }}
}})";

const kit::ConfigDecoder& configuration_decoder() {
  static const kit::ConfigDecoder decoder("PodSecurityConfiguration", {"v1", "v1beta1", "v1alpha1"}, kConfigurationSchema);
  return decoder;
}

// Upstream parses the defaults first, and stops if they have errors. The errors of defaults have no field paths.
LevelVersion read_default(const Object& defaults, std::string_view mode, std::vector<std::string>& problems) {
  const std::string version_key = std::string(mode) + "-version";
  const std::string_view level = get_string(defaults, mode), version = get_string(defaults, version_key);
  const auto parsed_level = level.empty() ? std::optional(Level::kPrivileged) : parse_level(level);
  const auto parsed_version = version.empty() ? std::optional(PolicyVersion{}) : parse_version(version);
  if (!parsed_level) problems.push_back(std::string(mode) + ": " + std::string(kLevelProblem));
  if (!parsed_version) problems.push_back(version_key + ": " + std::string(kVersionProblem));
  return {parsed_level.value_or(Level::kRestricted), parsed_version.value_or(PolicyVersion{})};
}

using NameProblems = std::vector<std::string> (*)(std::string_view name);

std::vector<std::string> read_names(const Object& exemptions, std::string_view key, NameProblems problems_of, FieldErrors& errors) {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  each_text(exemptions, key, [&](std::string_view name, std::size_t i) {
    const std::string path = at(at("exemptions", key), i);
    if (const auto problems = problems_of(name); !problems.empty()) return errors.invalid(path, name, joined(problems, ", "));
    if (!seen.insert(name).second) return errors.duplicate(path, name);
    out.emplace_back(name);
  });
  return out;
}

std::vector<std::string> username_problems(std::string_view name) {
  return name.empty() ? std::vector<std::string>{"username must not be empty"} : std::vector<std::string>();
}

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool Configuration::exempts_user(std::string_view name) const noexcept { return lists(usernames, name); }
bool Configuration::exempts_namespace(std::string_view name) const noexcept { return lists(namespaces, name); }
bool Configuration::exempts_runtime_class(const Object& spec) const noexcept {
  return lists(runtime_classes, get_string(spec, "runtimeClassName"));
}

Result<Configuration> parse_configuration(std::string_view text) {
  Configuration out;
  if (text.empty()) return out;
  auto document = configuration_decoder().decode(text);
  if (!document.ok()) return std::move(document.status());
  const Object& defaults = object_or_empty(document->object, "defaults");
  std::vector<std::string> problems;
  out.defaults.enforce = read_default(defaults, "enforce", problems);
  out.defaults.audit = read_default(defaults, "audit", problems);
  out.defaults.warn = read_default(defaults, "warn", problems);
  if (!problems.empty()) return bad_request("PodSecurity configuration error: " + aggregate_text(problems));

  const Object& exemptions = object_or_empty(document->object, "exemptions");
  FieldErrors errors;
  out.namespaces = read_names(exemptions, "namespaces", is_dns1123_label, errors);
  out.runtime_classes = read_names(exemptions, "runtimeClasses", is_dns1123_subdomain, errors);
  out.usernames = read_names(exemptions, "usernames", username_problems, errors);
  if (!errors.empty()) return bad_request("PodSecurity invalid: " + errors.aggregate_message());
  return out;
}

}  // namespace backplane::admission::podsecurity

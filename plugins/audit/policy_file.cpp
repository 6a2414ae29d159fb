#include "policy_file.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/names.hpp"
#include "file_error.hpp"

namespace backplane::audit {
namespace {

constexpr std::string_view kSchema = R"({"definitions": {
  "io.k8s.apiserver.pkg.apis.audit.$version.Policy": {
    "x-kubernetes-group-version-kind": [{"group": "audit.k8s.io", "kind": "Policy", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "metadata": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
      "rules": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.apiserver.pkg.apis.audit.$version.PolicyRule"}},
      "omitStages": {"type": "array", "items": {"type": "string"}},
      "omitManagedFields": {"type": "boolean"}
    }},
  "io.k8s.apiserver.pkg.apis.audit.$version.PolicyRule": {"type": "object", "properties": {
    "level": {"type": "string"},
    "users": {"type": "array", "items": {"type": "string"}},
    "userGroups": {"type": "array", "items": {"type": "string"}},
    "verbs": {"type": "array", "items": {"type": "string"}},
    "resources": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.apiserver.pkg.apis.audit.$version.GroupResources"}},
    "namespaces": {"type": "array", "items": {"type": "string"}},
    "nonResourceURLs": {"type": "array", "items": {"type": "string"}},
    "omitStages": {"type": "array", "items": {"type": "string"}},
    "omitManagedFields": {"type": "boolean", "x-backplane-pointer": true}
  }},
  "io.k8s.apiserver.pkg.apis.audit.$version.GroupResources": {"type": "object", "properties": {
    "group": {"type": "string"},
    "resources": {"type": "array", "items": {"type": "string"}},
    "resourceNames": {"type": "array", "items": {"type": "string"}}
  }}
}})";

// The version of a policy without apiVersion: upstream decodes it, and then refuses the version.
constexpr const char* kInternal = "__internal";
constexpr std::array kLevels{AuditLevel::kNone, AuditLevel::kMetadata, AuditLevel::kRequest, AuditLevel::kRequestResponse};
constexpr std::array kStages{AuditStage::kRequestReceived, AuditStage::kResponseStarted, AuditStage::kResponseComplete, AuditStage::kPanic};
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

using Texts = std::vector<std::string>;

Texts texts_of(const Object& object, std::string_view key) {
  Texts out;
  const Value* const list = find(object, key);
  if (list == nullptr || !list->is_array()) return out;
  for (const Value& item : list->get_array()) out.emplace_back(item.is_string() ? std::string_view(item.get_string()) : std::string_view());
  return out;
}

// Formats a []string like upstream's field.Invalid().
std::string go_json(const Texts& texts) {
  Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return to_json(list);
}

std::string at(std::string_view path, std::size_t index) { return std::string(path) + "[" + std::to_string(index) + "]"; }

// Calls `each(object, index)` for the objects of a list; a null item counts as an empty object.
template <class Each>
void for_each_object(const Object& object, std::string_view key, Each each) {
  const Value* const list = find(object, key);
  if (list == nullptr || !list->is_array()) return;
  static const Object kEmpty;
  std::size_t index = 0;
  for (const Value& item : list->get_array()) each(item.is_object() ? item.get_object() : kEmpty, index++);
}

std::optional<AuditLevel> level_of(std::string_view name) {
  for (const AuditLevel level : kLevels) {
    if (audit_level_name(level) == name) return level;
  }
  return std::nullopt;
}

std::optional<AuditStage> stage_of(std::string_view name) {
  for (const AuditStage stage : kStages) {
    if (audit_stage_name(stage) == name) return stage;
  }
  return std::nullopt;
}

std::uint8_t bits_of(const Texts& stages) {
  unsigned bits = 0;
  for (const std::string& name : stages) {
    if (const auto stage = stage_of(name)) bits |= 1U << static_cast<unsigned>(*stage);
  }
  return static_cast<std::uint8_t>(bits);
}

// ---- validation

void check_stages(const Texts& stages, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stage_of(stages[i])) continue;
    errors.invalid(at(path, i), stages[i], "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic");
  }
}

void check_level(std::string_view level, const std::string& path, FieldErrors& errors) {
  if (level.empty()) return errors.required(path);
  if (!level_of(level)) errors.not_supported(path, level, {"None", "Metadata", "Request", "RequestResponse"});
}

void check_urls(const Texts& urls, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const std::string& url = urls[i];
    if (url == "*") continue;
    if (!url.starts_with('/')) errors.invalid(at(path, i), url, "non-resource URL rules must begin with a '/' character");
    if (!url.empty() && std::string_view(url).substr(0, url.size() - 1).find('*') != std::string_view::npos) {
      errors.invalid(at(path, i), url, "non-resource URL wildcards '*' must be the final character of the rule");
    }
  }
}

// (The index of the resource is not part of upstream's path.)
void check_resources(const Object& rule, const std::string& path, FieldErrors& errors) {
  for_each_object(rule, "resources", [&](const Object& resources, std::size_t) {
    const std::string_view group = get_string(resources, "group");
    if (!group.empty() && group != "*") {
      std::string problems;
      for (const auto& problem : is_dns1123_subdomain(group)) problems.append(problems.empty() ? "" : ",").append(problem);
      if (!problems.empty()) errors.invalid(path + ".group", group, problems);
    }
    const Texts names = texts_of(resources, "resourceNames");
    if (names.empty() || !texts_of(resources, "resources").empty()) return;
    errors.invalid_raw(path + ".resourceNames", go_json(names), "using resourceNames requires at least one resource");
  });
}

void check_rule(const Object& rule, const std::string& path, FieldErrors& errors) {
  check_level(get_string(rule, "level"), path + ".level", errors);
  const Texts urls = texts_of(rule, "nonResourceURLs");
  check_urls(urls, path + ".nonResourceURLs", errors);
  check_resources(rule, path + ".resources", errors);
  check_stages(texts_of(rule, "omitStages"), path + ".omitStages", errors);
  const Value* const resources = find(rule, "resources");
  const bool of_resources =
      (resources != nullptr && resources->is_array() && !resources->get_array().empty()) || !texts_of(rule, "namespaces").empty();
  if (urls.empty() || !of_resources) return;
  errors.invalid_raw(path + ".nonResourceURLs", go_json(urls), "rules cannot apply to both regular resources and non-resource URLs");
}

// ---- compilation

ResourcesRule compile_resources(const Object& object) {
  ResourcesRule out;
  out.group = get_string(object, "group");
  out.names = StringSet(texts_of(object, "resourceNames"));
  const Texts all = texts_of(object, "resources");
  out.any = all.empty();
  Texts exact, subresources, parents;
  for (const std::string& name : all) {
    out.any = out.any || name == "*";
    if (name.starts_with("*/")) subresources.push_back(name.substr(2));
    if (name.ends_with("/*")) parents.push_back(name.substr(0, name.size() - 2));
    exact.push_back(name);
  }
  out.exact = StringSet(std::move(exact));
  out.subresources = StringSet(std::move(subresources));
  out.parents = StringSet(std::move(parents));
  return out;
}

PolicyRule compile_rule(const Object& rule, const AuditDecision& otherwise) {
  PolicyRule out;
  const Value* const managed = find(rule, "omitManagedFields");
  out.decision.level = level_of(get_string(rule, "level")).value_or(AuditLevel::kNone);
  out.decision.omitted_stages = otherwise.omitted_stages | bits_of(texts_of(rule, "omitStages"));
  out.decision.omit_managed_fields = managed != nullptr && managed->is_bool() ? managed->get_bool() : otherwise.omit_managed_fields;
  out.users = StringSet(texts_of(rule, "users"));
  out.groups = StringSet(texts_of(rule, "userGroups"));
  out.verbs = StringSet(texts_of(rule, "verbs"));
  out.namespaces = StringSet(texts_of(rule, "namespaces"));
  for_each_object(rule, "resources", [&](const Object& object, std::size_t) { out.resources.push_back(compile_resources(object)); });
  out.of_resources = !out.namespaces.empty() || !out.resources.empty();
  Texts paths = texts_of(rule, "nonResourceURLs");
  out.of_paths = !paths.empty();
  for (const std::string& path : paths) {
    if (path.ends_with('*')) out.path_heads.push_back(path.substr(0, path.find_last_not_of('*') + 1));
  }
  out.paths = StringSet(std::move(paths));
  return out;
}

const kit::ConfigDecoder& decoder() {
  static const kit::ConfigDecoder decoder("Policy", {"v1"}, kSchema, false, {"audit.k8s.io", kInternal, "Policy"});
  return decoder;
}

}  // namespace

Result<LoadedPolicy> parse_policy(std::string_view text) {
  auto document = decoder().decode_lenient(text);
  if (!document.ok()) return bad_request("failed decoding: " + document.status().message());
  const GroupVersionKind& kind = document->kind;
  if (kind.version == kInternal)
    return bad_request("unknown group version field " + kind.group_version().to_string() + ", Kind=" + kind.kind + " in policy");
  const Object& policy = document->object;
  FieldErrors errors;
  const Texts stages = texts_of(policy, "omitStages");
  check_stages(stages, "omitStages", errors);
  std::vector<PolicyRule> rules;
  const Value* const managed = find(policy, "omitManagedFields");
  const AuditDecision otherwise{AuditLevel::kNone, bits_of(stages), managed != nullptr && managed->is_bool() && managed->get_bool()};
  for_each_object(policy, "rules", [&](const Object& rule, std::size_t i) {
    check_rule(rule, at("rules", i), errors);
    rules.push_back(compile_rule(rule, otherwise));
  });
  if (!errors.empty()) return bad_request(errors.aggregate_message());
  if (rules.empty()) return bad_request("loaded illegal policy with 0 rules");
  return LoadedPolicy{std::make_shared<const CompiledPolicy>(std::move(rules), otherwise), std::move(document->problems)};
}

Result<LoadedPolicy> load_policy(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || text.tellp() > static_cast<std::streamoff>(kMostBytes)) {
    const std::string why = in ? "the file is too large" : file_error("open", file, errno);
    return bad_request("failed to read file path " + quoted(file) + ": " + why);
  }
  auto policy = parse_policy(text.str());
  if (!policy.ok()) return bad_request(policy.status().message() + ": from file " + file);
  return policy;
}

}  // namespace backplane::audit

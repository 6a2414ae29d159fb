#include "pods/toleration_config.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kTolerationConfigSchema = R"({"definitions": {
  "io.k8s.podtolerationrestriction.$version.Configuration": {
    "x-kubernetes-group-version-kind": [
      {"group": "podtolerationrestriction.admission.k8s.io", "kind": "Configuration", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "default": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.podtolerationrestriction.$version.Toleration"}},
      "whitelist": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.podtolerationrestriction.$version.Toleration"}}
    }},
  "io.k8s.podtolerationrestriction.$version.Toleration": {"type": "object", "properties": {
    "key": {"type": "string"},
    "operator": {"type": "string"},
    "value": {"type": "string"},
    "effect": {"type": "string"},
    "tolerationSeconds": {"type": "integer", "format": "int64", "x-backplane-pointer": true}
  }}
}})";

const Schema& toleration_schema() { return *core_schemas()->find("io.k8s.api.core.v1.Toleration"); }

void check_tolerations(const Array& list, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    toleration_schema().check(list[i].get_object(), nullptr, ObjectPart::kWhole, at(path, i), errors);
  }
}

Array list_in(const Object& config, std::string_view member) {
  const Array* list = get_array(config, member);
  return list != nullptr ? *list : Array();
}

// The errors as Go prints a list of them.
std::string printed_errors(const FieldErrors& errors) {
  std::string out = "[";
  for (const FieldError& each : errors.list()) out.append(out.size() > 1 ? " " : "").append(each.field).append(": ").append(each.text);
  return out.append("]");
}

Result<std::optional<Array>> read_toleration_list(std::string_view text) {
  const auto wrong = [](std::string why) { return Status(500, Reason::kNone, std::move(why)); };
  if (text.empty()) return std::optional<Array>(Array());
  auto parsed = parse_json(text, {}, nullptr);
  if (!parsed.ok()) return wrong(parsed.status().message());
  if (parsed->is_null()) return std::optional<Array>(Array());
  if (!parsed->is_array()) {
    const std::string_view kind = parsed->is_object() ? "object" : parsed->is_string() ? "string" : parsed->is_bool() ? "bool" : "number";
    return wrong("json: cannot unmarshal " + std::string(kind) + " into Go value of type []v1.Toleration");
  }
  for (Value& item : parsed->get_array()) {
    Status status = toleration_schema().normalize(item, nullptr);
    if (!status.ok()) return wrong(status.message());
    if (!item.is_object()) item = Object();
  }
  return std::optional<Array>(std::move(parsed->get_array()));
}

}  // namespace

Result<TolerationConfig> parse_toleration_config(std::string_view text) {
  static const kit::ConfigDecoder decoder("Configuration", {"v1alpha1"}, kTolerationConfigSchema);
  if (text.empty()) return TolerationConfig();
  auto document = decoder.decode(text);
  if (!document.ok()) return std::move(document).status();
  TolerationConfig config{list_in(document->object, "default"), list_in(document->object, "whitelist")};
  FieldErrors errors;
  check_tolerations(config.defaults, "podtolerationrestriction.default", errors);
  check_tolerations(config.allowed, "podtolerationrestriction.whitelist", errors);
  if (!errors.empty()) return bad_request("invalid config: " + printed_errors(errors));
  return config;
}

Result<std::optional<Array>> tolerations_of_namespace(const Object& ns, std::string_view key) {
  const Value* annotation = find(object_or_empty(object_or_empty(ns, "metadata"), "annotations"), key);
  if (annotation == nullptr) return std::optional<Array>();
  return read_toleration_list(text_of(*annotation));
}

}  // namespace backplane::admission::pods

// The rules on each keyword of a schema (ValidateCustomResourceDefinitionOpenAPISchema).
#include "schema_rules.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "definition.hpp"
#include "go_text.hpp"
#include "rule_checks.hpp"

namespace backplane::apiextensions {
namespace {

// Keywords that, in addition to the properties, are allowed at the root if status is a subresource.
constexpr std::array kAllowedAtRoot = {"description",
                                       "type",
                                       "format",
                                       "title",
                                       "maximum",
                                       "exclusiveMaximum",
                                       "minimum",
                                       "exclusiveMinimum",
                                       "maxLength",
                                       "minLength",
                                       "pattern",
                                       "maxItems",
                                       "minItems",
                                       "uniqueItems",
                                       "multipleOf",
                                       "required",
                                       "items",
                                       "properties",
                                       "externalDocs",
                                       "example",
                                       "x-kubernetes-preserve-unknown-fields",
                                       "x-kubernetes-validations"};
constexpr std::string_view kAllowedAtRootText =
    "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems "
    "UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the "
    "root of the schema if the status subresource is enabled";

// Keywords that are refused at every level.
struct Refused {
  std::string_view key;
  std::string_view detail;
};
constexpr std::array kRefused = {
    Refused{"id", "id is not supported"},
    Refused{"additionalItems", "additionalItems is not supported"},
    Refused{"patternProperties", "patternProperties is not supported"},
    Refused{"definitions", "definitions is not supported"},
    Refused{"dependencies", "dependencies is not supported"},
    Refused{"$ref", "$ref is not supported"},
};

bool is_set(const Object& schema, std::string_view key) {
  const Value* value = find(schema, key);
  if (value == nullptr || value->is_null()) return false;
  // These members are pointers in upstream's type, so an empty text counts as set.
  const bool pointer = key == "$ref" || key == "default" || key == "x-kubernetes-list-type" || key == "x-kubernetes-map-type";
  if (value->is_string()) return pointer || !value->get_string().empty();
  if (value->is_object() && (key == "patternProperties" || key == "definitions")) return !value->get_object().empty();
  return true;
}
bool flag(const Object& schema, std::string_view key) { return get_bool(schema, key).value_or(false); }

// The state that enclosing schemas pass to inner ones.
struct Walk {
  FieldErrors& errors;
  FieldErrors& of_rules;
  const KnownRules& known;
  std::string defaults_refused;  // the reason; empty: defaults are allowed
  bool inside_meta = false;
  std::string uncorrelated;  // the path of the schema that prevents comparing this part with its old value; empty: none
};

void check_keywords(const Object& schema, const std::string& path, Walk& walk) {
  const std::string_view type = get_string(schema, "type");
  if (!type.empty() && !walk.known.unknown_types && std::find(schema_types().begin(), schema_types().end(), type) == schema_types().end()) {
    walk.errors.not_supported(path + ".type", type, schema_types());
  }
  if (is_set(schema, "default") && !walk.defaults_refused.empty())
    walk.errors.forbidden(path + ".default", "must not be set " + walk.defaults_refused);
  for (const Refused& refused : kRefused) {
    if (is_set(schema, refused.key)) walk.errors.forbidden(path + "." + std::string(refused.key), refused.detail);
  }
  if (type == "null") walk.errors.forbidden(path + ".type", "type cannot be set to null, use nullable as an alternative");
  const Value* items = find(schema, "items");
  if (items != nullptr && items->is_array() && !items->get_array().empty()) {
    walk.errors.forbidden(path + ".items", "items must be a schema object and not an array");
  }
  if (walk.inside_meta && flag(schema, "x-kubernetes-embedded-resource")) {
    walk.errors.forbidden(path + ".x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  }
  if (flag(schema, "uniqueItems")) {
    walk.errors.forbidden(path + ".uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  }
  const Value* preserve = find(schema, "x-kubernetes-preserve-unknown-fields");
  if (preserve != nullptr && preserve->is_bool() && !preserve->get_bool()) {
    walk.errors.invalid_raw(path + ".x-kubernetes-preserve-unknown-fields", "false", "must be true or undefined");
  }
}

void check_type_of_extension(const Object& schema, const std::string& path, std::string_view extension, std::string_view type,
                             FieldErrors& errors) {
  const std::string_view actual = get_string(schema, "type");
  const std::string detail = "must be " + std::string(type) + " if " + std::string(extension) + " is specified";
  if (actual == type) return;
  if (actual.empty())
    errors.required(path + ".type", detail);
  else
    errors.invalid(path + ".type", actual, detail);
}

void check_map_keys(const Object& schema, const Object& items, const std::string& path, FieldErrors& errors) {
  const std::vector<std::string> keys = texts(schema, "x-kubernetes-list-map-keys");
  const Object& properties = object_or_empty(items, "properties");
  const std::string printed = keys.empty() ? std::string("[]") : to_json(*find(schema, "x-kubernetes-list-map-keys"));
  std::set<std::string> seen;
  for (const std::string& key : keys) {
    const Object* property = get_object(properties, key);
    if (property == nullptr) {
      errors.invalid_raw(path + ".x-kubernetes-list-map-keys", printed, "entries must all be names of item properties");
    } else if (get_string(*property, "type") == "array" || get_string(*property, "type") == "object") {
      errors.invalid(property_path(path + ".items", key) + ".type", get_string(items, "type"),
                     "must be a scalar type if parent array's x-kubernetes-list-type is map");
    }
    if (!seen.insert(key).second) errors.invalid_raw(path + ".x-kubernetes-list-map-keys", printed, "must not contain duplicate entries");
  }
}

// Items of sets and maps must not be nullable. Each key of a map must be required or have a default.
void check_keyed_items(const Object& schema, const Object& items, std::string_view list_type, const std::string& path,
                       FieldErrors& errors) {
  if (flag(items, "nullable")) {
    errors.forbidden(path + ".items.nullable", "cannot be nullable when x-kubernetes-list-type is " + std::string(list_type));
  }
  if (list_type != "map") return;
  const std::vector<std::string> required = texts(items, "required");
  for (const std::string& key : texts(schema, "x-kubernetes-list-map-keys")) {
    const Object* property = get_object(object_or_empty(items, "properties"), key);
    if (property == nullptr) continue;
    const std::string at = property_path(path + ".items", key);
    const bool is_required = std::find(required.begin(), required.end(), key) != required.end();
    if (!is_required && !is_set(*property, "default")) {
      errors.required(at + ".default",
                      "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property");
    }
    if (flag(*property, "nullable")) {
      errors.forbidden(at + ".nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }
}

void check_set_items(const Object& items, const std::string& path, FieldErrors& errors) {
  constexpr std::string_view kDetail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const std::string_view type = get_string(items, "type");
  const std::string_view list_type = get_string(items, "x-kubernetes-list-type");
  if (type == "array" && !list_type.empty() && list_type != "atomic")
    errors.invalid(path + ".items.x-kubernetes-list-type", list_type, kDetail);
  if (type == "object" && get_string(items, "x-kubernetes-map-type") != "atomic") {
    errors.invalid_raw(path + ".items.x-kubernetes-map-type", list_type.empty() ? "null" : quoted(list_type), kDetail);
  }
}

void check_list_map(const Object& schema, const Object* items, const std::string& path, FieldErrors& errors) {
  if (texts(schema, "x-kubernetes-list-map-keys").empty()) {
    errors.required(path + ".x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map");
  }
  if (items == nullptr) {
    errors.required(path + ".items", "must have a schema if x-kubernetes-list-type is map");
  } else if (get_string(*items, "type") != "object") {
    errors.invalid(path + ".items.type", get_string(*items, "type"), "must be object if parent array's x-kubernetes-list-type is map");
  } else {
    check_map_keys(schema, *items, path, errors);
  }
}

void check_list_words(const Object& schema, const std::string& path, FieldErrors& errors) {
  const Object* items = get_object(schema, "items");
  if (is_set(schema, "x-kubernetes-map-type")) {
    const std::string_view map_type = get_string(schema, "x-kubernetes-map-type");
    check_type_of_extension(schema, path, "x-kubernetes-map-type", "object", errors);
    if (map_type != "atomic" && map_type != "granular") {
      errors.not_supported(path + ".x-kubernetes-map-type", map_type, {"atomic", "granular"});
    }
  }
  const bool has_list_type = is_set(schema, "x-kubernetes-list-type");
  const std::string_view list_type = get_string(schema, "x-kubernetes-list-type");
  if (has_list_type) {
    check_type_of_extension(schema, path, "x-kubernetes-list-type", "array", errors);
    if (list_type == "set" && items != nullptr && get_string(schema, "type") == "array") check_set_items(*items, path, errors);
    if (list_type != "atomic" && list_type != "set" && list_type != "map") {
      errors.not_supported(path + ".x-kubernetes-list-type", list_type, {"atomic", "set", "map"});
    }
  }
  if (!texts(schema, "x-kubernetes-list-map-keys").empty() && list_type != "map") {
    constexpr std::string_view kDetail = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (has_list_type)
      errors.invalid(path + ".x-kubernetes-list-type", list_type, kDetail);
    else
      errors.required(path + ".x-kubernetes-list-type", kDetail);
  }
  if (list_type == "map") check_list_map(schema, items, path, errors);
  if ((list_type == "map" || list_type == "set") && items != nullptr) check_keyed_items(schema, *items, list_type, path, errors);
}

// `scope`: null if the rules are not checked here.
void check(const Object& schema, const std::string& path, Walk walk, bool root, const RuleScope* scope);

// Checks an inner schema that may have rules.
void check_inner(const Object& schema, const std::string& path, const Walk& walk, const RuleScope* around, RuleScope::Step step,
                 std::string_view name = {}) {
  if (around == nullptr) return check(schema, path, walk, false, nullptr);
  const RuleScope scope = around->inner(schema, step, name);
  check(schema, path, walk, false, &scope);
}

void check_properties(const Object& schema, const std::string& path, const Walk& walk, bool root, const RuleScope* scope) {
  const std::string_view map_type = get_string(schema, "x-kubernetes-map-type");
  for (const auto& [name, property] : object_or_empty(schema, "properties")) {
    if (!property.is_object()) continue;
    Walk inside = walk;
    if (!map_type.empty() && map_type != "granular" && map_type != "atomic" && walk.uncorrelated.empty()) inside.uncorrelated = path;
    const bool meta = name == "metadata" || name == "kind" || name == "apiVersion";
    if (meta && (root || flag(schema, "x-kubernetes-embedded-resource"))) {
      inside.inside_meta = true;
      if (root) inside.defaults_refused = "in top-level " + std::string(name);
    }
    check_inner(property.get_object(), property_path(path, name), inside, scope, RuleScope::Step::kProperty, name);
  }
}

void check_values(const Object& schema, const std::string& path, const Walk& walk, const RuleScope* scope) {
  const Value* additional = find(schema, "additionalProperties");
  if (additional == nullptr || additional->is_null()) return;
  const bool limits = additional->is_object() || (additional->is_bool() && !additional->get_bool());
  if (limits && !object_or_empty(schema, "properties").empty()) {
    walk.errors.forbidden(path + ".additionalProperties", "additionalProperties and properties are mutual exclusive");
  }
  if (!additional->is_object()) return;
  Walk inside = walk;
  if (walk.inside_meta) inside.defaults_refused = "inside additionalProperties applying to object metadata";
  check_inner(additional->get_object(), path + ".additionalProperties", inside, scope, RuleScope::Step::kValues);
}

void check_items(const Object& schema, const std::string& path, const Walk& walk, const RuleScope* scope) {
  Walk inside = walk;
  // Items of other lists have no identity, so they cannot be compared with old items.
  if (get_string(schema, "x-kubernetes-list-type") != "map" && walk.uncorrelated.empty()) inside.uncorrelated = path;
  // A list of schemas is refused, but its schemas are checked, too.
  std::size_t i = 0;
  for (const Object* each : objects(schema, "items")) check(*each, index_path(path, "items", i++), inside, false, nullptr);
  const Object* items = get_object(schema, "items");
  if (items == nullptr) return;
  check_inner(*items, path + ".items", inside, scope, RuleScope::Step::kItems);
}

void check(const Object& schema, const std::string& path, Walk walk, bool root, const RuleScope* scope) {
  const std::size_t before = walk.errors.size();
  check_keywords(schema, path, walk);
  check_values(schema, path, walk, scope);
  check_properties(schema, path, walk, root, scope);
  if (const Object* inner = get_object(schema, "not")) check(*inner, path + ".not", walk, false, nullptr);
  for (std::string_view key : {"allOf", "oneOf", "anyOf"}) {
    std::size_t i = 0;
    for (const Object* inner : objects(schema, key)) check(*inner, index_path(path, key, i++), walk, false, nullptr);
  }
  check_items(schema, path, walk, scope);
  check_list_words(schema, path, walk.errors);
  check_rule_forms(schema, path, walk.errors);
  // The rules of an invalid schema are not checked, because its declared members are unknown.
  if (scope != nullptr && walk.errors.size() == before) check_rules(schema, path, *scope, walk.uncorrelated, walk.known, walk.of_rules);
}

void check_root_with_status(const Object& schema, const std::string& path, FieldErrors& errors) {
  if (get_string(schema, "type") != "object" && !get_string(schema, "type").empty()) {
    errors.invalid(path + ".type", get_string(schema, "type"),
                   "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled");
    return;
  }
  for (const auto& [key, value] : schema) {
    const bool allowed = std::find(kAllowedAtRoot.begin(), kAllowedAtRoot.end(), key) != kAllowedAtRoot.end();
    if (allowed || value.is_null() || !is_set(schema, key)) continue;
    errors.invalid_raw(path, schema_text(schema), kAllowedAtRootText);
    return;
  }
}

}  // namespace

const std::vector<std::string>& schema_types() {
  static const std::vector<std::string> kTypes = {"array", "boolean", "integer", "number", "object", "string"};
  return kTypes;
}

bool any_schema(const Object& schema, const std::function<bool(const Object&)>& visit) {
  if (visit(schema)) return true;
  for (std::string_view key : {"not", "items", "additionalProperties"}) {
    const Object* inner = get_object(schema, key);
    if (inner != nullptr && any_schema(*inner, visit)) return true;
  }
  for (std::string_view key : {"allOf", "oneOf", "anyOf"}) {
    for (const Object* inner : objects(schema, key)) {
      if (any_schema(*inner, visit)) return true;
    }
  }
  for (const auto& [name, property] : object_or_empty(schema, "properties")) {
    if (property.is_object() && any_schema(property.get_object(), visit)) return true;
  }
  return false;
}

void validate_schema(const Object& schema, const std::string& path, bool status_enabled, const KnownRules& known, FieldErrors& errors) {
  const std::size_t before = errors.size();
  if (status_enabled) check_root_with_status(schema, path, errors);
  if (flag(schema, "nullable")) errors.forbidden(path + ".nullable", "nullable cannot be true at the root");
  const std::string unmakable = known.unstructured ? std::string() : structural_problem(schema);
  FieldErrors structure;
  if (unmakable.empty() && !known.unstructured) {
    check_structure(schema, path, structure);
    if (structure.empty()) check_defaults(schema, path, structure);
    errors.add(structure);
  }
  TotalCost total;
  const RuleScope scope(schema, total);
  FieldErrors of_rules;
  const bool in_order = !known.unstructured && unmakable.empty() && structure.empty();
  check(schema, path, Walk{errors, of_rules, known, {}, false, {}}, true, in_order ? &scope : nullptr);
  errors.add(of_rules);
  // Usually another check has reported the problem already, with its path.
  if (!unmakable.empty() && errors.size() == before) errors.invalid(path, "", unmakable);
  total.report(path, errors);
}

}  // namespace backplane::apiextensions

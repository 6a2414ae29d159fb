// Structural schemas (ValidateStructural): every part has a type, and properties that logical junctions mention are specified outside of
// them.
#include <algorithm>
#include <array>

#include "backplane/types/regexp.hpp"
#include "definition.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

enum class Level { kRoot, kItem, kField };

bool flag(const Object& schema, std::string_view key) { return get_bool(schema, key).value_or(false); }
bool preserves(const Object& schema) { return flag(schema, "x-kubernetes-preserve-unknown-fields"); }
bool embedded(const Object& schema) { return flag(schema, "x-kubernetes-embedded-resource"); }
bool int_or_string(const Object& schema) { return flag(schema, "x-kubernetes-int-or-string"); }

// Whether anyOf is [{type: integer}, {type: string}], which a schema with x-kubernetes-int-or-string may have. An empty $ref is ignored,
// because another check reports it.
bool is_int_or_string_any_of(const Object& schema) {
  const auto says_only = [](const Object& branch, std::string_view type) {
    return get_string(branch, "type") == type && std::all_of(branch.begin(), branch.end(), [](const auto& word) {
             return word.key() == "type" || (word.key() == "$ref" && text_of(word.value()).empty());
           });
  };
  const auto branches = objects(schema, "anyOf");
  return branches.size() == 2 && says_only(*branches[0], "integer") && says_only(*branches[1], "string");
}

// Keywords that a schema inside allOf, anyOf, oneOf or not must not have.
struct Excluded {
  std::string_view key;
  std::string_view detail;
  bool pointer = false;  // an empty value counts as present
};
constexpr std::array kExcludedInJunctions = {
    Excluded{"type", "must be empty to be structural"},
    Excluded{"additionalProperties", "must be undefined to be structural"},
    Excluded{"default", "must be undefined to be structural", true},
    Excluded{"title", "must be empty to be structural"},
    Excluded{"description", "must be empty to be structural"},
    Excluded{"nullable", "must be false to be structural"},
    Excluded{"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    Excluded{"x-kubernetes-embedded-resource", "must be false to be structural"},
    Excluded{"x-kubernetes-int-or-string", "must be false to be structural"},
    Excluded{"x-kubernetes-list-map-keys", "must be empty to be structural"},
    Excluded{"x-kubernetes-list-type", "must be undefined to be structural", true},
    Excluded{"x-kubernetes-map-type", "must be undefined to be structural", true},
    Excluded{"x-kubernetes-validations", "must be empty to be structural"},
};

bool is_set(const Value& value) {
  if (value.is_null()) return false;
  if (value.is_bool()) return value.get_bool();
  if (value.is_string()) return !value.get_string().empty();
  if (value.is_array()) return !value.get_array().empty();
  return true;
}

class Structure {
 public:
  explicit Structure(FieldErrors& errors) : errors_(errors) {}

  void invariants(const Object& schema, Level level, const std::string& path) {
    const std::string_view type = get_string(schema, "type");
    if (type == "array" && get_object(schema, "items") == nullptr) errors_.required(path + ".items", "must be specified");
    if (const Object* items = get_object(schema, "items")) invariants(*items, Level::kItem, path + ".items");
    for (const auto& [name, property] : object_or_empty(schema, "properties")) {
      if (property.is_object()) invariants(property.get_object(), Level::kField, property_path(path, name));
    }
    additional(schema, level, path);
    extensions(schema, path);
    const auto all = objects(schema, "allOf");
    junctions(schema, is_int_or_string_any_of(schema), !all.empty() && is_int_or_string_any_of(*all.front()), path);
    type_rules(schema, level, path);
    metadata_rules(schema, level, path);
    if (embedded(schema) && !preserves(schema) && object_or_empty(schema, "properties").empty()) {
      errors_.required(path + ".properties",
                       "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields");
    }
  }

  // A member in a junction of the root must be declared outside of it; nested junctions are not checked.
  void completeness(const Object& schema, const std::string& path) {
    for (std::string_view key : {"allOf", "anyOf", "oneOf"}) {
      std::size_t i = 0;
      for (const Object* branch : objects(schema, key)) covered(*branch, index_path(path, key, i++), schema, path);
    }
    if (const Object* inner = get_object(schema, "not")) covered(*inner, path + ".not", schema, path);
  }

 private:
  void covered(const Object& nested, const std::string& nested_path, const Object& schema, const std::string& path) {
    for (std::string_view key : {"allOf", "anyOf", "oneOf"}) {
      std::size_t i = 0;
      for (const Object* branch : objects(nested, key)) covered(*branch, index_path(nested_path, key, i++), schema, path);
    }
    if (const Object* inner = get_object(nested, "not")) covered(*inner, nested_path + ".not", schema, path);
    if (const Object* nested_items = get_object(nested, "items")) {
      const Object* items = get_object(schema, "items");
      if (items == nullptr)
        errors_.required(path + ".items", "because it is defined in " + nested_path + ".items");
      else
        covered(*nested_items, nested_path + ".items", *items, path + ".items");
    }
    for (const auto& [name, property] : object_or_empty(nested, "properties")) {
      const Object* known = get_object(object_or_empty(schema, "properties"), name);
      if (known == nullptr)
        errors_.required(property_path(path, name), "because it is defined in " + property_path(nested_path, name));
      else if (property.is_object())
        covered(property.get_object(), property_path(nested_path, name), *known, property_path(path, name));
    }
  }

  void additional(const Object& schema, Level level, const std::string& path) {
    const Value* additional = find(schema, "additionalProperties");
    if (additional == nullptr || additional->is_null()) return;
    if (level == Level::kRoot) errors_.forbidden(path + ".additionalProperties", "must not be used at the root");
    if (additional->is_object()) invariants(additional->get_object(), Level::kField, path + ".additionalProperties");
    if (embedded(schema)) errors_.forbidden(path + ".additionalProperties", "must not be used if x-kubernetes-embedded-resource is set");
  }

  void extensions(const Object& schema, const std::string& path) {
    if (!int_or_string(schema)) return;
    constexpr std::string_view kDetail = "must be false if x-kubernetes-int-or-string is true";
    if (preserves(schema)) errors_.invalid_raw(path + ".x-kubernetes-preserve-unknown-fields", "true", kDetail);
    if (embedded(schema)) errors_.invalid_raw(path + ".x-kubernetes-embedded-resource", "true", kDetail);
  }

  void junctions(const Object& schema, bool skip_any_of, bool skip_first_all_of, const std::string& path) {
    std::size_t i = 0;
    if (!skip_any_of) {
      for (const Object* branch : objects(schema, "anyOf")) nested(*branch, false, index_path(path, "anyOf", i++));
    }
    i = 0;
    for (const Object* branch : objects(schema, "allOf")) {
      nested(*branch, skip_first_all_of && i == 0, index_path(path, "allOf", i));
      ++i;
    }
    i = 0;
    for (const Object* branch : objects(schema, "oneOf")) nested(*branch, false, index_path(path, "oneOf", i++));
    if (const Object* inner = get_object(schema, "not")) nested(*inner, false, path + ".not");
    const std::string_view pattern = get_string(schema, "pattern");
    const std::string problem = pattern.empty() ? std::string() : regexp_problem(pattern);
    if (!problem.empty()) errors_.invalid(path + ".pattern", pattern, "must be a valid regular expression, but isn't: " + problem);
  }

  void nested(const Object& schema, bool skip_any_of, const std::string& path) {
    junctions(schema, skip_any_of, false, path);
    if (const Object* items = get_object(schema, "items")) nested(*items, false, path + ".items");
    for (const auto& [name, property] : object_or_empty(schema, "properties")) {
      if (property.is_object()) nested(property.get_object(), false, property_path(path, name));
    }
    for (const Excluded& excluded : kExcludedInJunctions) {
      const Value* value = find(schema, excluded.key);
      const bool there = value != nullptr && (is_set(*value) || (excluded.pointer && !value->is_null()));
      if (there) errors_.forbidden(path + "." + std::string(excluded.key), excluded.detail);
    }
    if (find(object_or_empty(schema, "properties"), "metadata") != nullptr) {
      errors_.forbidden(property_path(path, "metadata"), "must not be specified in a nested context");
    }
  }

  void type_rules(const Object& schema, Level level, const std::string& path) {
    const std::string_view type = get_string(schema, "type");
    if (embedded(schema) && type != "object") {
      constexpr std::string_view kDetail = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty())
        errors_.required(path + ".type", kDetail);
      else
        errors_.invalid(path + ".type", type, kDetail);
    } else if (type.empty() && !int_or_string(schema) && !preserves(schema)) {
      errors_.required(path + ".type", level == Level::kRoot   ? "must not be empty at the root"
                                       : level == Level::kItem ? "must not be empty for specified array items"
                                                               : "must not be empty for specified object fields");
    }
    if (level == Level::kRoot && !type.empty() && type != "object") errors_.invalid(path + ".type", type, "must be object at the root");
  }

  void metadata_rules(const Object& schema, Level level, const std::string& path) {
    const Object& properties = object_or_empty(schema, "properties");
    const bool resource = level == Level::kRoot || embedded(schema);
    for (std::string_view key : {"kind", "apiVersion"}) {
      const Object* property = get_object(properties, key);
      if (resource && property != nullptr && get_string(*property, "type") != "string") {
        errors_.invalid(property_path(path, key) + ".type", get_string(*property, "type"), "must be string");
      }
    }
    const Object* metadata = get_object(properties, "metadata");
    if (metadata == nullptr) return;
    const std::string at = property_path(path, "metadata");
    if (resource && get_string(*metadata, "type") != "object")
      errors_.invalid(at + ".type", get_string(*metadata, "type"), "must be object");
    if (level == Level::kRoot && !only_names(*metadata)) {
      errors_.forbidden(at, "must not specify anything other than name and generateName, but metadata is implicitly specified");
    }
  }

  // In addition to its type, metadata at the root may restrict name and generateName, and nothing else.
  static bool only_names(const Object& metadata) {
    for (const auto& [key, value] : metadata) {
      if (key == "type" || key == "default" || !is_set(value)) continue;
      if (key != "properties" || !value.is_object()) return false;
      for (const auto& [name, property] : value.get_object()) {
        if (name != "name" && name != "generateName") return false;
      }
    }
    return true;
  }

  FieldErrors& errors_;
};

constexpr std::array<std::string_view, 7> kUnsupported = {"id",           "schema",          "$ref",       "patternProperties",
                                                          "dependencies", "additionalItems", "definitions"};

bool is_used(const Object& schema, std::string_view word) {
  const Value* value = find(schema, word == "schema" ? "$schema" : word);
  if (value == nullptr || value->is_null()) return false;
  if (value->is_string()) return !value->get_string().empty();
  return !value->is_object() || word == "additionalItems" || !value->get_object().empty();
}

}  // namespace

std::string structural_problem(const Object& schema) {
  for (const std::string_view word : kUnsupported) {
    if (is_used(schema, word)) return "OpenAPIV3Schema '" + std::string(word) + "' is not supported";
  }
  std::string problem;
  const auto look = [&problem](const Object& inner) {
    if (problem.empty()) problem = structural_problem(inner);
  };
  if (const Object* inner = get_object(schema, "not")) look(*inner);
  for (std::string_view key : {"allOf", "anyOf", "oneOf"}) {
    for (const Object* inner : objects(schema, key)) look(*inner);
  }
  const Value* preserve = find(schema, "x-kubernetes-preserve-unknown-fields");
  if (problem.empty() && preserve != nullptr && preserve->is_bool() && !preserve->get_bool())
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  const Value* items = find(schema, "items");
  if (problem.empty() && items != nullptr && items->is_array() && !items->get_array().empty())
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (items != nullptr && items->is_object()) look(items->get_object());
  for (const auto& [name, property] : object_or_empty(schema, "properties")) {
    if (property.is_object()) look(property.get_object());
  }
  if (const Object* inner = get_object(schema, "additionalProperties")) look(*inner);
  return problem;
}

bool is_structural(const Object& schema) {
  if (!structural_problem(schema).empty()) return false;
  FieldErrors errors;
  check_structure(schema, "", errors);
  return errors.empty();
}

bool has_unknown_types(const Object& schema) {
  const std::vector<std::string>& known = schema_types();
  return any_schema(schema, [&known](const Object& each) {
    const std::string_view type = get_string(each, "type");
    return !type.empty() && std::find(known.begin(), known.end(), type) == known.end();
  });
}

void check_structure(const Object& schema, const std::string& path, FieldErrors& errors) {
  Structure structure(errors);
  structure.invariants(schema, Level::kRoot, path);
  structure.completeness(schema, path);
}

}  // namespace backplane::apiextensions

// Defaults in a schema must be what the schema itself accepts, whole (structuraldefaulting.ValidateDefaults).
#include <algorithm>

#include "backplane/schema_prune.hpp"
#include "custom_schema.hpp"
#include "definition.hpp"
#include "rule_run.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

bool is_known_type(std::string_view type) {
  const std::vector<std::string>& all = schema_types();
  return type.empty() || std::find(all.begin(), all.end(), type) != all.end();
}

std::string_view type_of(const Value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "object";
    case json::kind::array:
      return "array";
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "boolean";
    case json::kind::double_:
      return "number";
    case json::kind::null:
      return "null";
    default:
      return "integer";
  }
}

// The engine compiles no type that there is not; nothing is of such a one.
Value without_unknown_types(const Value& schema) {
  Value out(schema);
  const auto clean = [](Object& words, auto& again) -> void {
    if (Value* type = find(words, "type"); type != nullptr && type->is_string() && !is_known_type(text_of(*type))) {
      erase_member(words, "type");
      words["x-kubernetes-preserve-unknown-fields"] = true;
    }
    for (auto& word : words) {
      if (word.value().is_object()) again(word.value().get_object(), again);
    }
  };
  if (out.is_object()) clean(out.get_object(), clean);
  return out;
}

// To upstream's validator of defaults x-kubernetes-int-or-string says nothing: whatever stands there is right, until an object has it.
bool is_of_int_or_string(const FieldError& error) {
  return error.type == FieldErrorType::kTypeInvalid && error.text.find(" in body must be of type integer,string: ") != std::string::npos;
}

class Defaults {
 public:
  Defaults(const Object& root, FieldErrors& errors) : root_(&root), errors_(errors) {}

  void walk(const Object& schema, const Schema* compiled, const std::string& path) {
    if (compiled == nullptr) return;
    const Value* value = find(schema, "default");
    const std::string_view type = get_string(schema, "type");
    if (value != nullptr && !value->is_null() && is_known_type(type)) {
      if (would_prune(*compiled, *value)) errors_.invalid_raw(path + ".default", to_json(*value), "must not have unknown fields");
      if (check(*value, *compiled, path + ".default")) ask_rules(schema, *value, path + ".default");
    } else if (value != nullptr && !value->is_null()) {
      const std::string actual = quoted(type_of(*value));
      errors_.type_invalid(path + ".default", actual, " in body must be of type " + std::string(type) + ": " + actual);
    }
    // Defaults below additionalProperties are not looked at, as upstream has it.
    if (const Object* items = get_object(schema, "items")) walk(*items, compiled->items(), path + ".items");
    for (const auto& [name, property] : object_or_empty(schema, "properties")) {
      if (property.is_object()) walk(property.get_object(), compiled->property(name), property_path(path, name));
    }
  }

 private:
  // Whether nothing is wrong with it.
  bool check(const Value& value, const Schema& compiled, const std::string& path) {
    FieldErrors found;
    compiled.validate(value, "", found);
    bool right = true;
    for (const FieldError& error : found.list()) {
      if (is_of_int_or_string(error)) continue;
      right = false;
      FieldError moved = error;
      moved.field = error.field.empty() || error.field == "<nil>" ? path : path + "." + error.field;
      errors_.add(std::move(moved));
    }
    return right;
  }

  // A default must do where it takes the place of nothing, and where it stays what it was.
  void ask_rules(const Object& schema, const Value& value, const std::string& path) {
    const bool resource = &schema == root_ || get_bool(schema, "x-kubernetes-embedded-resource").value_or(false);
    const std::unique_ptr<const RuleNode> rules = make_rules(schema, resource);
    if (rules == nullptr) return;
    std::vector<std::string> warnings;
    const std::size_t before = errors_.size();
    run_rules(*rules, value, &value, false, path, budget_, {errors_, warnings});
    if (errors_.size() == before) run_rules(*rules, value, nullptr, false, path, budget_, {errors_, warnings});
  }

  const Object* root_;
  FieldErrors& errors_;
  cel::Budget budget_;
};

}  // namespace

void check_defaults(const Object& schema, const std::string& path, FieldErrors& errors) {
  const bool any = any_schema(schema, [](const Object& s) {
    const Value* value = find(s, "default");
    return value != nullptr && !value->is_null();
  });
  if (!any) return;
  const bool unknown = any_schema(schema, [](const Object& s) { return !is_known_type(get_string(s, "type")); });
  // A default of the whole is one of a resource.
  const Value* whole = find(schema, "default");
  const bool resource = whole != nullptr && !whole->is_null();
  Value known;
  if (unknown || resource) known = without_unknown_types(Value(schema));
  if (resource) known.get_object()["x-kubernetes-embedded-resource"] = true;
  const auto compiled = compile_schema(known.is_object() ? known.get_object() : schema, {"validation", "v1", "Validation"});
  if (!compiled.ok()) {
    errors.invalid(path, "", compiled.status().message());
    return;
  }
  Defaults(schema, errors).walk(schema, compiled->root, path);
}

}  // namespace backplane::apiextensions

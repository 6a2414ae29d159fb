// Defaults in a schema must be valid by the schema itself (structuraldefaulting.ValidateDefaults).
#include <algorithm>

#include "custom_schema.hpp"
#include "definition.hpp"
#include "engine/schema_prune.hpp"
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

// The engine cannot compile unknown types, and no value is of such a type, so they are replaced.
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

// Upstream's validator of defaults ignores x-kubernetes-int-or-string: any value is valid as a default, until an object has it.
bool is_of_int_or_string(const FieldError& error) {
  return error.type == FieldErrorType::kTypeInvalid && error.text.find(" in body must be of type integer,string: ") != std::string::npos;
}

// The enclosing resource of a default: the schema of the resource, and the path from it to the default.
struct Resource {
  const Schema* schema = nullptr;
  std::vector<std::string> way;  // names of members; an empty name means an item of a list

  // Returns a minimal resource that contains the default `value`.
  Value with(const Value& value) const {
    Value out(value);
    for (auto step = way.rbegin(); step != way.rend(); ++step) {
      Value inner = std::move(out);
      if (step->empty()) {
        out = Array();
        out.get_array().push_back(std::move(inner));
      } else {
        out = Object();
        out.get_object()[*step] = std::move(inner);
      }
    }
    out.get_object().emplace("apiVersion", "validation/v1");
    out.get_object().emplace("kind", "Validation");
    return out;
  }
  Resource below(std::string_view name) const {
    Resource out = *this;
    out.way.emplace_back(name);
    return out;
  }
};

bool is_word_of_resource(std::string_view name) { return name == "metadata" || name == "apiVersion" || name == "kind"; }

class Defaults {
 public:
  Defaults(const Object& root, FieldErrors& errors) : root_(&root), errors_(errors) {}

  void walk(const Object& schema, const Schema* compiled, const std::string& path, const Resource* around = nullptr) {
    if (compiled == nullptr) return;
    const bool embedded = is_resource(schema);
    const Value* value = find(schema, "default");
    if (value != nullptr && !value->is_null()) look(schema, *value, *compiled, path + ".default", embedded ? nullptr : around);
    const Resource itself{compiled, {}};
    // As upstream, defaults below additionalProperties are not checked.
    if (const Object* items = get_object(schema, "items")) {
      const Resource inside = around != nullptr && !embedded ? around->below("") : Resource();
      walk(*items, compiled->items(), path + ".items", inside.schema != nullptr ? &inside : nullptr);
    }
    for (const auto& [name, property] : object_or_empty(schema, "properties")) {
      if (!property.is_object()) continue;
      Resource inside;
      if (embedded && is_word_of_resource(name)) inside = itself.below(name);
      if (!embedded && around != nullptr) inside = around->below(name);
      walk(property.get_object(), compiled->property(name), property_path(path, name), inside.schema != nullptr ? &inside : nullptr);
    }
  }

 private:
  bool is_resource(const Object& schema) const {
    return &schema == root_ || get_bool(schema, "x-kubernetes-embedded-resource").value_or(false);
  }

  // `around`: the resource, for a default in its metadata; null: it is not in metadata.
  void look(const Object& schema, const Value& value, const Schema& compiled, const std::string& path, const Resource* around) {
    const std::string_view type = get_string(schema, "type");
    if (!is_known_type(type)) {
      const std::string actual = quoted(type_of(value));
      errors_.type_invalid(path, actual, " in body must be of type " + std::string(type) + ": " + actual);
    } else if (around != nullptr) {
      if (check_enclosing_resource(value, *around, path) && check(value, compiled, path)) ask_rules(schema, value, path);
    } else {
      if (would_prune(compiled, value)) errors_.invalid_raw(path, to_json(value), "must not have unknown fields");
      if (auto unreadable = unreadable_resource(compiled, value)) {
        unreadable->field = path + "." + unreadable->field;
        errors_.add(std::move(*unreadable));
      } else if (check(value, compiled, path)) {
        ask_rules(schema, value, path);
      }
    }
  }

  bool check_enclosing_resource(const Value& value, const Resource& around, const std::string& path) {
    const Value whole = around.with(value);
    std::string problem;
    if (const auto unreadable = unreadable_resource(*around.schema, whole)) {
      problem = unreadable->field + ": " + unreadable->text;
    } else {
      FieldErrors found;
      check_resources(*around.schema, whole, found);
      if (!found.empty()) problem = found.aggregate_message();
    }
    if (!problem.empty()) errors_.invalid_raw(path, to_json(value), "must result in valid metadata: " + problem);
    return problem.empty();
  }

  // Validates the default and adds the errors; true if it is valid.
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

  // A default must be valid as a new value, and as an unchanged value.
  void ask_rules(const Object& schema, const Value& value, const std::string& path) {
    const std::unique_ptr<const RuleNode> rules = make_rules(schema, is_resource(schema));
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
  const auto defaulted = [](const Object& s) {
    const Value* value = find(s, "default");
    return value != nullptr && !value->is_null();
  };
  if (!any_schema(schema, defaulted)) return;
  const bool unknown = any_schema(schema, [](const Object& s) { return !is_known_type(get_string(s, "type")); });
  // If the root or its metadata have defaults, the root is compiled as a resource.
  const Object& members = object_or_empty(schema, "properties");
  const bool resource =
      defaulted(schema) || std::any_of(members.begin(), members.end(), [&](const auto& member) {
        return is_word_of_resource(member.key()) && member.value().is_object() && any_schema(member.value().get_object(), defaulted);
      });
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

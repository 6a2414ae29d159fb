// Defaults in a schema must be what the schema itself accepts, whole (structuraldefaulting.ValidateDefaults).
#include "custom_schema.hpp"
#include "definition.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

class Defaults {
 public:
  explicit Defaults(FieldErrors& errors) : errors_(errors) {}

  void walk(const Object& schema, const Schema* compiled, const std::string& path) {
    if (compiled == nullptr) return;
    const Value* value = find(schema, "default");
    if (value != nullptr && !value->is_null()) check(*value, *compiled, path + ".default");
    // Defaults below additionalProperties are not looked at, as upstream has it.
    if (const Object* items = get_object(schema, "items")) walk(*items, compiled->items(), path + ".items");
    for (const auto& [name, property] : object_or_empty(schema, "properties")) {
      if (property.is_object()) walk(property.get_object(), compiled->property(name), property_path(path, name));
    }
  }

 private:
  void check(const Value& value, const Schema& compiled, const std::string& path) {
    Value pruned(value);
    DecodeReport report;
    const bool object = value.is_object() || value.is_array();
    if (object && compiled.normalize(pruned, &report).ok() && !report.problems.empty()) {
      errors_.invalid_raw(path, to_json(value), "must not have unknown fields");
    }
    FieldErrors found;
    compiled.validate(value, "", found);
    for (const FieldError& error : found.list()) {
      FieldError moved = error;
      moved.field = error.field.empty() || error.field == "<nil>" ? path : path + (error.field.front() == '[' ? "" : ".") + error.field;
      errors_.add(std::move(moved));
    }
  }

  FieldErrors& errors_;
};

}  // namespace

void check_defaults(const Object& schema, const std::string& path, FieldErrors& errors) {
  const bool any = any_schema(schema, [](const Object& s) {
    const Value* value = find(s, "default");
    return value != nullptr && !value->is_null();
  });
  if (!any) return;
  const auto compiled = compile_schema(schema, {"validation", "v1", "Validation"});
  if (!compiled.ok()) {
    errors.invalid(path, "", compiled.status().message());
    return;
  }
  Defaults(errors).walk(schema, compiled->root, path);
}

}  // namespace backplane::apiextensions

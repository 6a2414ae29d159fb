// Reads the keywords of structural schemas.
#include "schema/constraints.hpp"

#include "cel/named_formats.hpp"
#include "schema/compiler.hpp"

namespace backplane::schema {
namespace {

bool truthy(const Object& object, std::string_view key) noexcept { return get_bool(object, key).value_or(false); }

std::vector<std::string> strings_of(const Object& schema, std::string_view key) {
  std::vector<std::string> out;
  if (const Array* list = get_array(schema, key)) {
    for (const Value& item : *list) {
      if (item.is_string()) out.emplace_back(std::string_view(item.get_string()));
    }
  }
  return out;
}

std::optional<Value> number_of(const Object& schema, std::string_view key) {
  const Value* value = find(schema, key);
  return value && value->is_number() ? std::optional<Value>(Value(*value, json::storage_ptr())) : std::nullopt;
}

// Keywords that constrain values in addition to their type.
constexpr std::string_view kConstraints[] = {"allOf",
                                             "anyOf",
                                             "default",
                                             "enum",
                                             "exclusiveMaximum",
                                             "exclusiveMinimum",
                                             "format",
                                             "maxItems",
                                             "maxLength",
                                             "maxProperties",
                                             "maximum",
                                             "minItems",
                                             "minLength",
                                             "minProperties",
                                             "minimum",
                                             "multipleOf",
                                             "not",
                                             "nullable",
                                             "oneOf",
                                             "pattern",
                                             "required",
                                             "uniqueItems",
                                             "x-custom-keeps-unknown-fields",
                                             "x-kubernetes-embedded-resource",
                                             "x-kubernetes-list-map-keys",
                                             "x-kubernetes-list-type",
                                             "x-kubernetes-preserve-unknown-fields"};

bool has_constraints(const Object& schema) noexcept {
  for (const std::string_view word : kConstraints) {
    if (schema.contains(word)) return true;
  }
  const Value* additional = find(schema, "additionalProperties");
  const bool composed = schema.contains("properties") || schema.contains("items");
  return (additional && additional->is_bool()) || (composed && !schema.contains("type"));
}

// Returns the format if validation checks it for the type; other formats have no effect.
std::string format_of(const Object& schema) {
  const std::string_view type = get_string(schema, "type"), format = get_string(schema, "format");
  const bool known = type == "integer"                  ? format == "int32" || format == "int64"
                     : type == "number"                 ? format == "float" || format == "double"
                     : type.empty() || type == "string" ? is_known_format(format)
                                                        : false;
  return std::string(known ? format : std::string_view());
}

}  // namespace

std::unique_ptr<const Constraints> Compiler::constraints_of(const Object& schema, const std::string& path) {
  if (!has_constraints(schema)) return nullptr;
  auto out = std::make_unique<Constraints>();
  out->typed = schema.contains("type") || truthy(schema, "x-kubernetes-int-or-string");
  out->format = format_of(schema);
  out->nullable = truthy(schema, "nullable");
  if (const Value* value = find(schema, "default")) out->default_value = Value(*value, json::storage_ptr());
  if (const Value* value = find(schema, "additionalProperties"); value && value->is_bool()) {
    (value->get_bool() ? out->additional_allowed : out->additional_forbidden) = true;
  }
  out->required = strings_of(schema, "required");
  if (const Array* values = get_array(schema, "enum")) {
    for (const Value& value : *values) out->enumeration.emplace_back(value, json::storage_ptr());
  }
  read_bounds(*out, schema);
  read_extensions(*out, schema);
  out->pattern = get_string(schema, "pattern");
  if (!out->pattern.empty()) {
    std::string problem;
    out->regex = compile_regexp(out->pattern, problem);
    if (!out->regex) fail(path + ".pattern", problem);
  }
  read_logic(*out, schema, path);
  return out;
}

void Compiler::read_bounds(Constraints& out, const Object& schema) {
  out.minimum = number_of(schema, "minimum");
  out.maximum = number_of(schema, "maximum");
  out.multiple_of = number_of(schema, "multipleOf");
  out.exclusive_minimum = truthy(schema, "exclusiveMinimum");
  out.exclusive_maximum = truthy(schema, "exclusiveMaximum");
  out.min_length = get_int(schema, "minLength");
  out.max_length = get_int(schema, "maxLength");
  out.min_items = get_int(schema, "minItems");
  out.max_items = get_int(schema, "maxItems");
  out.min_properties = get_int(schema, "minProperties");
  out.max_properties = get_int(schema, "maxProperties");
  out.unique_items = truthy(schema, "uniqueItems");
}

void Compiler::read_extensions(Constraints& out, const Object& schema) {
  out.preserve_unknown = truthy(schema, "x-kubernetes-preserve-unknown-fields");
  out.keeps_unknown = truthy(schema, "x-custom-keeps-unknown-fields");
  out.embedded_resource = truthy(schema, "x-kubernetes-embedded-resource");
  state_.embedded_resources = state_.embedded_resources || out.embedded_resource;
  out.items = list_identity_of(schema);
}

void Compiler::read_logic(Constraints& out, const Object& schema, const std::string& path) {
  auto read_all = [&](std::string_view word, std::vector<const Type*>& into) {
    const Array* list = get_array(schema, word);
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      into.push_back(type_of((*list)[i], path + "." + std::string(word) + "[" + std::to_string(i) + "]"));
    }
  };
  read_all("allOf", out.all_of);
  read_all("anyOf", out.any_of);
  read_all("oneOf", out.one_of);
  if (const Value* inverse = find(schema, "not")) out.not_schema = type_of(*inverse, path + ".not");
}

}  // namespace backplane::schema

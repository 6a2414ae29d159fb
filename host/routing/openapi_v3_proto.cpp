// Converts OpenAPI v3 JSON to gnostic's protobuf message openapi.v3.Document. Field numbers: github.com/google/gnostic-models
// openapiv3/OpenAPIv3.proto.
#include "routing/openapi.hpp"
#include "routing/openapi_wire.hpp"

namespace backplane {
namespace openapi {
namespace {

Wire schema_or_reference(const Object& schema);

// Encodes a number, a boolean or a string. Other values become an empty message.
Wire default_type(const Value& value) {
  Wire out;
  if (value.is_number()) out.real(1, value.to_number<double>());
  // The field is a member of a oneof, so it is encoded even if it is false.
  if (value.is_bool()) out.integer(2, value.get_bool() ? 1 : 0);
  if (value.is_string()) out.text(3, value.get_string());
  return out;
}

void put_alternatives(Wire& out, int field, const Object& schema, std::string_view member) {
  const Array* list = get_array(schema, member);
  if (list == nullptr) return;
  for (const auto& each : *list) {
    if (each.is_object()) out.message(field, schema_or_reference(each.get_object()));
  }
}

// AdditionalPropertiesItem has two alternatives: field 1 is schema_or_reference, field 2 is boolean.
Wire additional_properties(const Value& value) {
  Wire out;
  if (value.is_object()) out.message(1, schema_or_reference(value.get_object()));
  if (value.is_bool()) out.integer(2, value.get_bool() ? 1 : 0);
  return out;
}

Wire schema_message(const Object& schema) {
  static constexpr PlainField kPlain[] = {
      {"nullable", 1, PlainField::kFlag},          {"title", 9},
      {"multipleOf", 10, PlainField::kReal},       {"maximum", 11, PlainField::kReal},
      {"exclusiveMaximum", 12, PlainField::kFlag}, {"minimum", 13, PlainField::kReal},
      {"exclusiveMinimum", 14, PlainField::kFlag}, {"maxLength", 15, PlainField::kInteger},
      {"minLength", 16, PlainField::kInteger},     {"pattern", 17},
      {"maxItems", 18, PlainField::kInteger},      {"minItems", 19, PlainField::kInteger},
      {"uniqueItems", 20, PlainField::kFlag},      {"maxProperties", 21, PlainField::kInteger},
      {"minProperties", 22, PlainField::kInteger}, {"required", 23, PlainField::kTexts},
  };
  static constexpr PlainField kType[] = {{"type", 25}};
  static constexpr PlainField kSaid[] = {{"description", 34}, {"format", 35}};
  Wire out;
  put_plain(out, schema, kPlain);
  if (const Array* values = get_array(schema, "enum")) {
    for (const auto& value : *values) out.message(24, any(value));
  }
  put_plain(out, schema, kType);
  put_alternatives(out, 26, schema, "allOf");
  put_alternatives(out, 27, schema, "oneOf");
  put_alternatives(out, 28, schema, "anyOf");
  if (const Object* refused = get_object(schema, "not")) out.message(29, schema_message(*refused));
  if (const Object* items = get_object(schema, "items")) {
    Wire item;
    item.message(1, schema_or_reference(*items));
    out.message(30, item);
  }
  if (const Object* properties = get_object(schema, "properties")) {
    Wire list;
    put_named(list, 1, *properties, schema_or_reference);
    out.message(31, list);
  }
  if (const Value* additional = find(schema, "additionalProperties")) out.message(32, additional_properties(*additional));
  if (const Value* value = find(schema, "default")) out.message(33, default_type(*value));
  put_plain(out, schema, kSaid);
  put_extensions(out, 36, schema);
  return out;
}

Wire schema_or_reference(const Object& schema) {
  static constexpr PlainField kReference[] = {{"$ref", 1}};
  Wire out;
  if (!schema.contains("$ref")) {
    out.message(1, schema_message(schema));
    return out;
  }
  Wire reference;
  put_plain(reference, schema, kReference);
  out.message(2, reference);
  return out;
}

Wire media_type(const Object& media) {
  Wire out;
  if (const Object* schema = get_object(media, "schema")) out.message(1, schema_or_reference(*schema));
  return out;
}

void put_content(Wire& out, int field, const Object& holder) {
  const Object* content = get_object(holder, "content");
  if (content == nullptr) return;
  Wire types;
  put_named(types, 1, *content, media_type);
  out.message(field, types);
}

// Encodes a definition as the first alternative of a message whose second alternative is a reference.
Wire thing(const Wire& inner) {
  Wire out;
  out.message(1, inner);
  return out;
}

Wire parameter_message(const Object& parameter) {
  static constexpr PlainField kPlain[] = {{"name", 1}, {"in", 2}, {"description", 3}, {"required", 4, PlainField::kFlag}};
  Wire out;
  put_plain(out, parameter, kPlain);
  if (const Object* schema = get_object(parameter, "schema")) out.message(10, schema_or_reference(*schema));
  return thing(out);
}

void put_parameters(Wire& out, int field, const Object& holder) {
  const Array* parameters = get_array(holder, "parameters");
  if (parameters == nullptr) return;
  for (const auto& each : *parameters) {
    if (each.is_object()) out.message(field, parameter_message(each.get_object()));
  }
}

Wire response_message(const Object& response) {
  static constexpr PlainField kPlain[] = {{"description", 1}};
  Wire out;
  put_plain(out, response, kPlain);
  put_content(out, 3, response);
  return thing(out);
}

Wire request_message(const Object& request) {
  static constexpr PlainField kPlain[] = {{"description", 1}};
  static constexpr PlainField kRequired[] = {{"required", 3, PlainField::kFlag}};
  Wire out;
  put_plain(out, request, kPlain);
  put_content(out, 2, request);
  put_plain(out, request, kRequired);
  return thing(out);
}

Wire operation_message(const Object& operation) {
  static constexpr PlainField kPlain[] = {{"tags", 1, PlainField::kTexts}, {"description", 3}, {"operationId", 5}};
  Wire out;
  put_plain(out, operation, kPlain);
  put_parameters(out, 6, operation);
  if (const Object* request = get_object(operation, "requestBody")) out.message(7, request_message(*request));
  if (const Object* responses = get_object(operation, "responses")) {
    Wire list;
    put_named(list, 2, *responses, response_message);
    out.message(8, list);
  }
  put_extensions(out, 13, operation);
  return out;
}

Wire path_item(const Object& item) {
  static constexpr std::pair<std::string_view, int> kMethods[] = {{"get", 4},     {"put", 5},  {"post", 6},  {"delete", 7},
                                                                  {"options", 8}, {"head", 9}, {"patch", 10}};
  Wire out;
  for (auto [method, field] : kMethods) {
    if (const Object* operation = get_object(item, method)) out.message(field, operation_message(*operation));
  }
  put_parameters(out, 13, item);
  return out;
}

Wire security_scheme(const Object& scheme) {
  static constexpr PlainField kPlain[] = {{"type", 1}, {"description", 2}, {"name", 3}, {"in", 4}};
  Wire out;
  put_plain(out, scheme, kPlain);
  return thing(out);
}

Wire components_message(const Object& components) {
  Wire out;
  if (const Object* schemas = get_object(components, "schemas")) {
    Wire list;
    put_named(list, 1, *schemas, schema_or_reference);
    out.message(1, list);
  }
  if (const Object* schemes = get_object(components, "securitySchemes")) {
    Wire list;
    put_named(list, 1, *schemes, security_scheme);
    out.message(7, list);
  }
  return out;
}

}  // namespace
}  // namespace openapi

std::string openapi_v3_protobuf(std::string_view v3) {
  using namespace openapi;
  static constexpr PlainField kForm[] = {{"openapi", 1}};
  static constexpr PlainField kInfo[] = {{"title", 1}, {"version", 6}};
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  const Value tree = json::parse(v3, {}, options);
  const Object& document = tree.get_object();
  Wire out;
  put_plain(out, document, kForm);
  if (const Object* info = get_object(document, "info")) {
    Wire message;
    put_plain(message, *info, kInfo);
    out.message(2, message);
  }
  if (const Object* paths = get_object(document, "paths")) {
    Wire list;
    put_named(list, 1, *paths, path_item);
    out.message(4, list);
  }
  if (const Object* components = get_object(document, "components")) out.message(5, components_message(*components));
  return out.bytes();
}

}  // namespace backplane

// Converts Swagger 2.0 JSON to gnostic's protobuf message openapi.v2.Document. `kubectl` up to 1.26 reads this message for validation and
// explain. Field numbers: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto.
#include "routing/openapi.hpp"
#include "routing/openapi_wire.hpp"

namespace backplane {
namespace openapi {
namespace {

Wire schema_message(const Object& schema) {
  static constexpr PlainField kBefore[] = {
      {"$ref", 1},
      {"format", 2},
      {"title", 3},
      {"description", 4},
  };
  static constexpr PlainField kPlain[] = {
      {"multipleOf", 6, PlainField::kReal},        {"maximum", 7, PlainField::kReal},
      {"exclusiveMaximum", 8, PlainField::kFlag},  {"minimum", 9, PlainField::kReal},
      {"exclusiveMinimum", 10, PlainField::kFlag}, {"maxLength", 11, PlainField::kInteger},
      {"minLength", 12, PlainField::kInteger},     {"pattern", 13},
      {"maxItems", 14, PlainField::kInteger},      {"minItems", 15, PlainField::kInteger},
      {"uniqueItems", 16, PlainField::kFlag},      {"maxProperties", 17, PlainField::kInteger},
      {"minProperties", 18, PlainField::kInteger}, {"required", 19, PlainField::kTexts},
  };
  Wire out;
  put_plain(out, schema, kBefore);
  if (const Value* value = find(schema, "default")) out.message(5, any(*value));
  put_plain(out, schema, kPlain);
  if (const Array* values = get_array(schema, "enum")) {
    for (const auto& value : *values) out.message(20, any(value));
  }
  if (const Object* additional = get_object(schema, "additionalProperties")) {
    Wire item;
    item.message(1, schema_message(*additional));
    out.message(21, item);
  }
  if (auto type = get_string(schema, "type"); !type.empty()) {
    Wire item;
    item.text(1, type);
    out.message(22, item);
  }
  if (const Object* items = get_object(schema, "items")) {
    Wire item;
    item.message(1, schema_message(*items));
    out.message(23, item);
  }
  if (const Array* all = get_array(schema, "allOf")) {
    for (const auto& each : *all) {
      if (each.is_object()) out.message(24, schema_message(each.get_object()));
    }
  }
  if (const Object* properties = get_object(schema, "properties")) {
    Wire list;
    put_named(list, 1, *properties, schema_message);
    out.message(25, list);
  }
  put_extensions(out, 31, schema);
  return out;
}

// QueryParameterSubSchema has the field 5, allow_empty_value, which PathParameterSubSchema does not have. So its later numbers are one
// higher.
Wire non_body_parameter(const Object& parameter) {
  const bool query = get_string(parameter, "in") == "query";
  const PlainField fields[] = {
      {"required", 1, PlainField::kFlag},
      {"in", 2},
      {"description", 3},
      {"name", 4},
      {"type", query ? 6 : 5},
      {"uniqueItems", query ? 20 : 19, PlainField::kFlag},
  };
  Wire schema;
  put_plain(schema, parameter, fields);
  Wire out;
  out.message(query ? 3 : 4, schema);
  return out;
}

Wire parameter_message(const Object& parameter) {
  static constexpr PlainField kBody[] = {{"description", 1}, {"name", 2}, {"in", 3}, {"required", 4, PlainField::kFlag}};
  Wire out;
  if (get_string(parameter, "in") == "body") {
    Wire body;
    put_plain(body, parameter, kBody);
    if (const Object* schema = get_object(parameter, "schema")) body.message(5, schema_message(*schema));
    out.message(1, body);
  } else {
    out.message(2, non_body_parameter(parameter));
  }
  return out;
}

Wire parameter_item(const Object& parameter) {
  static constexpr PlainField kReference[] = {{"$ref", 1}};
  Wire out;
  if (parameter.contains("$ref")) {
    Wire reference;
    put_plain(reference, parameter, kReference);
    out.message(2, reference);
  } else {
    out.message(1, parameter_message(parameter));
  }
  return out;
}

Wire response_value(const Object& response) {
  static constexpr PlainField kPlain[] = {{"description", 1}};
  Wire inner;
  put_plain(inner, response, kPlain);
  if (const Object* schema = get_object(response, "schema")) {
    Wire item;
    item.message(1, schema_message(*schema));
    inner.message(2, item);
  }
  Wire out;
  out.message(1, inner);
  return out;
}

void put_parameters(Wire& out, int field, const Object& holder) {
  const Array* parameters = get_array(holder, "parameters");
  if (parameters == nullptr) return;
  for (const auto& parameter : *parameters) {
    if (const Object* object = parameter.if_object()) out.message(field, parameter_item(*object));
  }
}

Wire operation_message(const Object& operation) {
  static constexpr PlainField kPlain[] = {
      {"tags", 1, PlainField::kTexts},     {"description", 3}, {"operationId", 5}, {"produces", 6, PlainField::kTexts},
      {"consumes", 7, PlainField::kTexts},
  };
  static constexpr PlainField kSchemes[] = {{"schemes", 10, PlainField::kTexts}};
  Wire out;
  put_plain(out, operation, kPlain);
  put_parameters(out, 8, operation);
  if (const Object* responses = get_object(operation, "responses")) {
    Wire list;
    put_named(list, 1, *responses, response_value);
    out.message(9, list);
  }
  put_plain(out, operation, kSchemes);
  put_extensions(out, 13, operation);
  return out;
}

Wire path_item(const Object& item) {
  static constexpr std::pair<std::string_view, int> kMethods[] = {{"get", 2},     {"put", 3},  {"post", 4}, {"delete", 5},
                                                                  {"options", 6}, {"head", 7}, {"patch", 8}};
  Wire out;
  for (auto [method, field] : kMethods) {
    if (const Object* operation = get_object(item, method)) out.message(field, operation_message(*operation));
  }
  put_parameters(out, 9, item);
  return out;
}

// SecurityDefinitionsItem; field 2 is api_key_security.
Wire security_item(const Object& scheme) {
  static constexpr PlainField kPlain[] = {{"type", 1}, {"name", 2}, {"in", 3}, {"description", 4}};
  Wire key;
  put_plain(key, scheme, kPlain);
  Wire out;
  out.message(2, key);
  return out;
}

// A SecurityRequirement: a list of names, each with its required scopes.
Wire requirement(const Object& wanted) {
  Wire out;
  for (const auto& member : wanted) {
    Wire scopes;
    if (const Array* list = member.value().if_array()) {
      for (const auto& scope : *list) scopes.text(1, scope.get_string());
    }
    Wire named;
    named.text(1, member.key());
    named.message(2, scopes);
    out.message(1, named);
  }
  return out;
}

}  // namespace
}  // namespace openapi

std::string openapi_v2_protobuf(std::string_view v2) {
  using namespace openapi;
  struct Part {
    std::string_view member;
    int field;  // field number in the Document
    int item;   // field number in the message that contains the named values
    Wire (*encode)(const Object& item);
  };
  static constexpr Part kParts[] = {
      {"paths", 8, 2, path_item},
      {"definitions", 9, 1, schema_message},
      {"parameters", 10, 1, parameter_message},
      {"securityDefinitions", 13, 1, security_item},
  };
  static constexpr PlainField kSwagger[] = {{"swagger", 1}};
  static constexpr PlainField kInfo[] = {{"title", 1}, {"version", 2}};
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  const Value tree = json::parse(v2, {}, options);
  const Object& document = tree.get_object();
  Wire out;
  put_plain(out, document, kSwagger);
  if (const Object* info = get_object(document, "info")) {
    Wire message;
    put_plain(message, *info, kInfo);
    out.message(2, message);
  }
  for (const Part& part : kParts) {
    const Object* named = get_object(document, part.member);
    if (named == nullptr) continue;
    Wire list;
    put_named(list, part.item, *named, part.encode);
    out.message(part.field, list);
  }
  if (const Array* security = get_array(document, "security")) {
    for (const auto& each : *security) out.message(12, requirement(each.get_object()));
  }
  return out.bytes();
}

}  // namespace backplane

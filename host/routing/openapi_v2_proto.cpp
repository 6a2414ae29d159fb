// Swagger 2.0 JSON as gnostic's protobuf message openapi.v2.Document: what `kubectl` up to 1.26 reads for validation and explain.
// Field numbers: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto.
#include <algorithm>
#include <functional>

#include "routing/openapi.hpp"

namespace backplane {
namespace {

// Appends protobuf fields to a buffer.
class Wire {
 public:
  void text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    out_.append(value);
  }
  void flag(int field, bool value) {
    if (!value) return;
    key(field, 0);
    varint(1);
  }
  void message(int field, const Wire& inner) { text(field, inner.out_); }
  const std::string& bytes() const noexcept { return out_; }

 private:
  void key(int field, int type) { varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(type)); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  std::string out_;
};

void put_text(Wire& wire, int field, const Object& object, std::string_view key) {
  if (auto text = get_string(object, key); !text.empty()) wire.text(field, text);
}
void put_texts(Wire& wire, int field, const Object& object, std::string_view key) {
  if (const Array* list = get_array(object, key)) {
    for (const auto& item : *list) wire.text(field, item.get_string());
  }
}

// Any: {yaml = 2}; JSON is YAML.
Wire any(const Value& value) {
  Wire out;
  out.text(2, to_json(value));
  return out;
}

void put_extensions(Wire& wire, int field, const Object& object) {
  for (const auto& member : object) {
    if (!std::string_view(member.key()).starts_with("x-")) continue;
    Wire named;
    named.text(1, member.key());
    named.message(2, any(member.value()));
    wire.message(field, named);
  }
}

template <class Encode>
void put_named(Wire& wire, int field, const Object& object, Encode encode) {
  for (const auto& member : object) {
    if (!member.value().is_object()) continue;
    Wire named;
    named.text(1, member.key());
    named.message(2, encode(member.value().get_object()));
    wire.message(field, named);
  }
}

Wire schema_message(const Object& schema) {
  Wire out;
  put_text(out, 1, schema, "$ref");
  put_text(out, 2, schema, "format");
  put_text(out, 4, schema, "description");
  if (const Value* value = find(schema, "default")) out.message(5, any(*value));
  put_texts(out, 19, schema, "required");
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
  if (const Object* properties = get_object(schema, "properties")) {
    Wire list;
    put_named(list, 1, *properties, schema_message);
    out.message(25, list);
  }
  put_extensions(out, 31, schema);
  return out;
}

// QueryParameterSubSchema and PathParameterSubSchema differ in the numbers from allow_empty_value on.
Wire non_body_parameter(const Object& parameter) {
  const bool query = get_string(parameter, "in") == "query";
  Wire schema;
  schema.flag(1, get_bool(parameter, "required").value_or(false));
  put_text(schema, 2, parameter, "in");
  put_text(schema, 3, parameter, "description");
  put_text(schema, 4, parameter, "name");
  put_text(schema, query ? 6 : 5, parameter, "type");
  schema.flag(query ? 20 : 19, get_bool(parameter, "uniqueItems").value_or(false));
  Wire out;
  out.message(query ? 3 : 4, schema);
  return out;
}

Wire parameter_item(const Object& parameter) {
  Wire value;
  if (get_string(parameter, "in") == "body") {
    Wire body;
    put_text(body, 2, parameter, "name");
    put_text(body, 3, parameter, "in");
    body.flag(4, get_bool(parameter, "required").value_or(false));
    if (const Object* schema = get_object(parameter, "schema")) body.message(5, schema_message(*schema));
    value.message(1, body);
  } else {
    value.message(2, non_body_parameter(parameter));
  }
  Wire out;
  out.message(1, value);
  return out;
}

Wire response_value(const Object& response) {
  Wire inner;
  put_text(inner, 1, response, "description");
  if (const Object* schema = get_object(response, "schema")) {
    Wire item;
    item.message(1, schema_message(*schema));
    inner.message(2, item);
  }
  Wire out;
  out.message(1, inner);
  return out;
}

Wire operation_message(const Object& operation) {
  Wire out;
  put_texts(out, 1, operation, "tags");
  put_text(out, 3, operation, "description");
  put_text(out, 5, operation, "operationId");
  put_texts(out, 6, operation, "produces");
  put_texts(out, 7, operation, "consumes");
  if (const Array* parameters = get_array(operation, "parameters")) {
    for (const auto& parameter : *parameters) out.message(8, parameter_item(parameter.get_object()));
  }
  if (const Object* responses = get_object(operation, "responses")) {
    Wire list;
    put_named(list, 1, *responses, response_value);
    out.message(9, list);
  }
  put_texts(out, 10, operation, "schemes");
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
  if (const Array* parameters = get_array(item, "parameters")) {
    for (const auto& parameter : *parameters) out.message(9, parameter_item(parameter.get_object()));
  }
  return out;
}

}  // namespace

std::string openapi_v2_protobuf(std::string_view v2) {
  const Value tree = json::parse(v2);
  const Object& document = tree.get_object();
  Wire out;
  put_text(out, 1, document, "swagger");
  if (const Object* info = get_object(document, "info")) {
    Wire message;
    put_text(message, 1, *info, "title");
    put_text(message, 2, *info, "version");
    out.message(2, message);
  }
  if (const Object* paths = get_object(document, "paths")) {
    Wire list;
    put_named(list, 2, *paths, path_item);
    out.message(8, list);
  }
  if (const Object* definitions = get_object(document, "definitions")) {
    Wire list;
    put_named(list, 1, *definitions, schema_message);
    out.message(9, list);
  }
  return out.bytes();
}

}  // namespace backplane

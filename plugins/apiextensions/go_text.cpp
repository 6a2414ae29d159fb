#include "go_text.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

enum class Form : unsigned char {
  kText,      // "" when unset
  kFlag,      // false when unset
  kAny,       // null if unset, and printed unchanged
  kSchema,    // a schema or null
  kSchemas,   // a list of schemas or null
  kNamed,     // a map of schemas or null
  kItems,     // a schema or several
  kSchemaOr,  // a schema or a flag
  kDependencies,
  kDocs,
  kRules
};
struct Word {
  std::string_view name;
  std::string_view key;
  Form form;
};

constexpr std::array kSchemaWords = {
    Word{"ID", "id", Form::kText},
    Word{"Schema", "$schema", Form::kText},
    Word{"Ref", "$ref", Form::kAny},
    Word{"Description", "description", Form::kText},
    Word{"Type", "type", Form::kText},
    Word{"Nullable", "nullable", Form::kFlag},
    Word{"Format", "format", Form::kText},
    Word{"Title", "title", Form::kText},
    Word{"Default", "default", Form::kAny},
    Word{"Maximum", "maximum", Form::kAny},
    Word{"ExclusiveMaximum", "exclusiveMaximum", Form::kFlag},
    Word{"Minimum", "minimum", Form::kAny},
    Word{"ExclusiveMinimum", "exclusiveMinimum", Form::kFlag},
    Word{"MaxLength", "maxLength", Form::kAny},
    Word{"MinLength", "minLength", Form::kAny},
    Word{"Pattern", "pattern", Form::kText},
    Word{"MaxItems", "maxItems", Form::kAny},
    Word{"MinItems", "minItems", Form::kAny},
    Word{"UniqueItems", "uniqueItems", Form::kFlag},
    Word{"MultipleOf", "multipleOf", Form::kAny},
    Word{"Enum", "enum", Form::kAny},
    Word{"MaxProperties", "maxProperties", Form::kAny},
    Word{"MinProperties", "minProperties", Form::kAny},
    Word{"Required", "required", Form::kAny},
    Word{"Items", "items", Form::kItems},
    Word{"AllOf", "allOf", Form::kSchemas},
    Word{"OneOf", "oneOf", Form::kSchemas},
    Word{"AnyOf", "anyOf", Form::kSchemas},
    Word{"Not", "not", Form::kSchema},
    Word{"Properties", "properties", Form::kNamed},
    Word{"AdditionalProperties", "additionalProperties", Form::kSchemaOr},
    Word{"PatternProperties", "patternProperties", Form::kNamed},
    Word{"Dependencies", "dependencies", Form::kDependencies},
    Word{"AdditionalItems", "additionalItems", Form::kSchemaOr},
    Word{"Definitions", "definitions", Form::kNamed},
    Word{"ExternalDocs", "externalDocs", Form::kDocs},
    Word{"Example", "example", Form::kAny},
    Word{"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Form::kAny},
    Word{"XEmbeddedResource", "x-kubernetes-embedded-resource", Form::kFlag},
    Word{"XIntOrString", "x-kubernetes-int-or-string", Form::kFlag},
    Word{"XListMapKeys", "x-kubernetes-list-map-keys", Form::kAny},
    Word{"XListType", "x-kubernetes-list-type", Form::kAny},
    Word{"XMapType", "x-kubernetes-map-type", Form::kAny},
    Word{"XValidations", "x-kubernetes-validations", Form::kRules},
};
constexpr std::array kRuleWords = {Word{"Rule", "rule", Form::kText},
                                   Word{"Message", "message", Form::kText},
                                   Word{"MessageExpression", "messageExpression", Form::kText},
                                   Word{"Reason", "reason", Form::kAny},
                                   Word{"FieldPath", "fieldPath", Form::kText},
                                   Word{"OptionalOldSelf", "optionalOldSelf", Form::kAny}};
constexpr std::array kColumnWords = {Word{"Name", "name", Form::kText},        Word{"Type", "type", Form::kText},
                                     Word{"Format", "format", Form::kText},    Word{"Description", "description", Form::kText},
                                     Word{"Priority", "priority", Form::kAny}, Word{"JSONPath", "jsonPath", Form::kText}};
constexpr std::array kScaleWords = {Word{"SpecReplicasPath", "specReplicasPath", Form::kText},
                                    Word{"StatusReplicasPath", "statusReplicasPath", Form::kText},
                                    Word{"LabelSelectorPath", "labelSelectorPath", Form::kAny}};
constexpr std::array kFieldWords = {Word{"JSONPath", "jsonPath", Form::kText}};
constexpr std::array kDocsWords = {Word{"Description", "description", Form::kText}, Word{"URL", "url", Form::kText}};

void print_schema(std::string& out, const Object& schema);

void print_list(std::string& out, const Value* list, const std::function<void(const Object&)>& print) {
  if (list == nullptr || !list->is_array()) {
    out += "null";
    return;
  }
  out += '[';
  for (const Value& item : list->get_array()) {
    if (out.back() != '[') out += ',';
    if (item.is_object())
      print(item.get_object());
    else
      append_json(out, item);
  }
  out += ']';
}

void print_named(std::string& out, const Value* map, const std::function<void(const Value&)>& print) {
  if (map == nullptr || !map->is_object()) {
    out += "null";
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, value] : map->get_object()) names.emplace_back(name.data(), name.size());
  std::sort(names.begin(), names.end());
  out += '{';
  for (const std::string_view name : names) {
    if (name != names.front()) out += ',';
    append_json_string(out, name);
    out += ':';
    print(*find(map->get_object(), name));
  }
  out += '}';
}

void print_schema_or_null(std::string& out, const Value* value) {
  if (value != nullptr && value->is_object())
    print_schema(out, value->get_object());
  else
    out += "null";
}

void print_items(std::string& out, const Value* value) {
  if (value == nullptr || value->is_null()) {
    out += "null";
    return;
  }
  out += R"({"Schema":)";
  print_schema_or_null(out, value);
  out += R"(,"JSONSchemas":)";
  print_list(out, value, [&out](const Object& each) { print_schema(out, each); });
  out += '}';
}

void print_schema_or_flag(std::string& out, const Value* value) {
  if (value == nullptr || value->is_null()) {
    out += "null";
    return;
  }
  out += !value->is_bool() || value->get_bool() ? R"({"Allows":true,"Schema":)" : R"({"Allows":false,"Schema":)";
  print_schema_or_null(out, value);
  out += '}';
}

void print_dependency(std::string& out, const Value& value) {
  out += R"({"Schema":)";
  print_schema_or_null(out, &value);
  out += R"(,"Property":)";
  append_json(out, value.is_array() ? value : Value());
  out += '}';
}

template <std::size_t N>
void print_members(std::string& out, const std::array<Word, N>& words, const Object& object);

void print_word(std::string& out, const Word& word, const Value* value) {
  switch (word.form) {
    case Form::kText:
      return append_json_string(out, value != nullptr ? text_of(*value) : std::string_view());
    case Form::kFlag:
      out += value != nullptr && value->is_bool() && value->get_bool() ? "true" : "false";
      return;
    case Form::kAny:
      return append_json(out, value != nullptr ? *value : Value());
    case Form::kSchema:
      return print_schema_or_null(out, value);
    case Form::kSchemas:
      return print_list(out, value, [&out](const Object& each) { print_schema(out, each); });
    case Form::kNamed:
      return print_named(out, value, [&out](const Value& each) { print_schema_or_null(out, &each); });
    case Form::kItems:
      return print_items(out, value);
    case Form::kSchemaOr:
      return print_schema_or_flag(out, value);
    case Form::kDependencies:
      return print_named(out, value, [&out](const Value& each) { print_dependency(out, each); });
    case Form::kDocs:
      if (value != nullptr && value->is_object()) return print_members(out, kDocsWords, value->get_object());
      out += "null";
      return;
    case Form::kRules:
      return print_list(out, value, [&out](const Object& each) { print_members(out, kRuleWords, each); });
  }
}

template <std::size_t N>
void print_members(std::string& out, const std::array<Word, N>& words, const Object& object) {
  char before = '{';
  for (const Word& word : words) {
    out += before;
    before = ',';
    append_json_string(out, word.name);
    out += ':';
    print_word(out, word, find(object, word.key));
  }
  out += '}';
}

void print_schema(std::string& out, const Object& schema) { print_members(out, kSchemaWords, schema); }

void print_subresources(std::string& out, const Object* subresources) {
  if (subresources == nullptr) {
    out += "null";
    return;
  }
  out += get_object(*subresources, "status") != nullptr ? R"({"Status":{},"Scale":)" : R"({"Status":null,"Scale":)";
  if (const Object* scale = get_object(*subresources, "scale"))
    print_members(out, kScaleWords, *scale);
  else
    out += "null";
  out += '}';
}

void print_columns(std::string& out, const Value* columns) {
  print_list(out, columns, [&out](const Object& column) {
    Object whole(column);
    if (!get_int(whole, "priority")) whole["priority"] = 0;
    print_members(out, kColumnWords, whole);
  });
}

// The members that are equal in all versions, and therefore printed at the spec and not in the version.
struct Shared {
  bool schema, subresources, columns, fields;
};

void print_version(std::string& out, const Object& version, const Shared& shared) {
  constexpr std::array kHead = {Word{"Name", "name", Form::kText}, Word{"Served", "served", Form::kFlag},
                                Word{"Storage", "storage", Form::kFlag}, Word{"Deprecated", "deprecated", Form::kFlag},
                                Word{"DeprecationWarning", "deprecationWarning", Form::kAny}};
  print_members(out, kHead, version);
  out.back() = ',';
  out += R"("Schema":)";
  if (const Object* schema = shared.schema ? nullptr : get_object(version, "schema")) {
    out += R"({"OpenAPIV3Schema":)";
    print_schema_or_null(out, find(*schema, "openAPIV3Schema"));
    out += '}';
  } else {
    out += "null";
  }
  out += R"(,"Subresources":)";
  print_subresources(out, shared.subresources ? nullptr : get_object(version, "subresources"));
  out += R"(,"AdditionalPrinterColumns":)";
  print_columns(out, shared.columns ? nullptr : find(version, "additionalPrinterColumns"));
  out += R"(,"SelectableFields":)";
  print_list(out, shared.fields ? nullptr : find(version, "selectableFields"),
             [&out](const Object& each) { print_members(out, kFieldWords, each); });
  out += '}';
}

}  // namespace

std::string schema_text(const Object& schema) {
  std::string out;
  print_schema(out, schema);
  return out;
}

std::string rule_text(const Object& rule) {
  std::string out;
  print_members(out, kRuleWords, rule);
  return out;
}

std::string versions_text(const std::vector<const Object*>& versions) {
  const Shared shared{is_shared(versions, "schema"), is_shared(versions, "subresources"), is_shared(versions, "additionalPrinterColumns"),
                      is_shared(versions, "selectableFields")};
  std::string out = "[";
  for (const Object* version : versions) {
    if (version != versions.front()) out += ',';
    print_version(out, *version, shared);
  }
  return out + "]";
}

bool is_shared(const std::vector<const Object*>& versions, std::string_view key) {
  if (versions.empty()) return false;
  const Value* first = find(*versions.front(), key);
  return std::all_of(versions.begin(), versions.end(), [&](const Object* version) {
    const Value* value = find(*version, key);
    return first != nullptr && value != nullptr ? *first == *value : first == value;
  });
}

}  // namespace backplane::apiextensions

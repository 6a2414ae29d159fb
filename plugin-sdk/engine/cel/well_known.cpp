// Well-known messages of protobuf, which every environment has, although objects never contain them.
#include <array>

#include "cel/environment.hpp"

namespace backplane::cel_detail {
namespace {

constexpr Type wrapper(TypeKind kind) { return {kind, true}; }
constexpr Type kBoolValue = wrapper(TypeKind::kBool), kBytesValue = wrapper(TypeKind::kBytes), kDoubleValue = wrapper(TypeKind::kDouble),
               kIntValue = wrapper(TypeKind::kInt), kUintValue = wrapper(TypeKind::kUint), kStringValue = wrapper(TypeKind::kString);
constexpr Type kEmpty{TypeKind::kStruct, false, "google.protobuf.Empty"};
constexpr const Type* kDynParameter[] = {&kDynType};
constexpr const Type* kStructParameters[] = {&kStringType, &kDynType};
constexpr Type kDynList{TypeKind::kList, false, {}, kDynParameter};
constexpr Type kDynMap{TypeKind::kMap, false, {}, kStructParameters};

struct Field {
  std::string_view name;
  const Type* type;
};
constexpr Field kNone[] = {{}};
constexpr Field kBool[] = {{"value", &kBoolType}};
constexpr Field kBytes[] = {{"value", &kBytesType}};
constexpr Field kDouble[] = {{"value", &kDoubleType}};
constexpr Field kInt[] = {{"value", &kIntType}};
constexpr Field kUint[] = {{"value", &kUintType}};
constexpr Field kString[] = {{"value", &kStringType}};
constexpr Field kAny[] = {{"type_url", &kStringType}, {"value", &kBytesType}};
constexpr Field kTime[] = {{"seconds", &kIntType}, {"nanos", &kIntType}};
constexpr Field kListValue[] = {{"values", &kDynList}};
constexpr Field kStruct[] = {{"fields", &kDynMap}};
constexpr Field kValue[] = {{"null_value", &kNullType}, {"number_value", &kDoubleType}, {"string_value", &kStringType},
                            {"bool_value", &kBoolType}, {"struct_value", &kDynMap},     {"list_value", &kDynList}};

struct Message {
  std::string_view name;
  const Type* type;
  std::span<const Field> fields;
};
constexpr Message kMessages[] = {
    {"google.protobuf.Any", &kAnyType, kAny},
    {"google.protobuf.BoolValue", &kBoolValue, kBool},
    {"google.protobuf.BytesValue", &kBytesValue, kBytes},
    {"google.protobuf.DoubleValue", &kDoubleValue, kDouble},
    {"google.protobuf.Duration", &kDurationType, kTime},
    {"google.protobuf.Empty", &kEmpty, kNone},
    {"google.protobuf.FloatValue", &kDoubleValue, kDouble},
    {"google.protobuf.Int32Value", &kIntValue, kInt},
    {"google.protobuf.Int64Value", &kIntValue, kInt},
    {"google.protobuf.ListValue", &kDynList, kListValue},
    {"google.protobuf.StringValue", &kStringValue, kString},
    {"google.protobuf.Struct", &kDynMap, kStruct},
    {"google.protobuf.Timestamp", &kTimestampType, kTime},
    {"google.protobuf.UInt32Value", &kUintValue, kUint},
    {"google.protobuf.UInt64Value", &kUintValue, kUint},
    {"google.protobuf.Value", &kDynType, kValue},
};

const Message* find_message(std::string_view name) {
  for (const Message& each : kMessages) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

const cel::DeclField* declared_field(const Environment::State& environment, const DeclType& decl, std::string_view name) {
  if (const cel::DeclField* found = decl.field(name)) return found;
  const bool keyword = is_reserved(name) || name == "true" || name == "false" || name == "null";
  return environment.keyword_fields && keyword ? decl.field("__" + std::string(name) + "__") : nullptr;
}

// Object{…}, Object.spec{…}: the fields that a mutating policy sets; any field is allowed.
bool is_patched_object(const Environment::State& environment, std::string_view name) {
  return environment.options.extras.json_patch && (name == "Object" || name.starts_with("Object."));
}
bool is_patch(const Environment::State& environment, std::string_view name) {
  return environment.options.extras.json_patch && name == "JSONPatch";
}
const Type* patch_field(std::string_view name) {
  if (name == "value") return &kDynType;
  return name == "op" || name == "path" || name == "from" ? &kStringType : nullptr;
}

}  // namespace

const Type* patch_type(const Environment::State& environment, TypeArena& arena, std::string_view name) {
  return is_patched_object(environment, name) || is_patch(environment, name) ? arena.structure(name) : nullptr;
}

const Type* well_known_type(std::string_view name) {
  const Message* found = find_message(name);
  return found == nullptr ? nullptr : found->type;
}

std::string_view message_name(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
      return type.name;
    case TypeKind::kAny:
      return "google.protobuf.Any";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kDyn:
      return "google.protobuf.Value";
    case TypeKind::kNull:
      return "google.protobuf.NullValue";
    case TypeKind::kList:
      return type.parameters[0] == &kDynType ? "google.protobuf.ListValue" : "";
    case TypeKind::kMap:
      return type.parameters[0] == &kStringType && type.parameters[1] == &kDynType ? "google.protobuf.Struct" : "";
    default:
      break;
  }
  if (!type.wrapper) return {};
  switch (type.kind) {
    case TypeKind::kBool:
      return "google.protobuf.BoolValue";
    case TypeKind::kBytes:
      return "google.protobuf.BytesValue";
    case TypeKind::kDouble:
      return "google.protobuf.DoubleValue";
    case TypeKind::kInt:
      return "google.protobuf.Int64Value";
    case TypeKind::kUint:
      return "google.protobuf.UInt64Value";
    default:
      return "google.protobuf.StringValue";
  }
}

FieldLookup find_field(const Environment::State& environment, TypeArena& arena, std::string_view struct_name, const DeclType* decl,
                       std::string_view field) {
  if (decl != nullptr) {
    const cel::DeclField* found = declared_field(environment, *decl, field);
    if (found == nullptr) return {true, nullptr};
    return {true, arena.declared(*found->type, std::string(struct_name) + "." + found->name)};
  }
  if (is_patched_object(environment, struct_name)) return {true, &kDynType};
  if (is_patch(environment, struct_name)) return {true, patch_field(field)};
  const Message* message = find_message(struct_name);
  if (message == nullptr) return {};
  for (const Field& each : message->fields) {
    if (each.type != nullptr && each.name == field) return {true, each.type};
  }
  return {true, nullptr};
}

}  // namespace backplane::cel_detail

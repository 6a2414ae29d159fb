#include "cel/types.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cstring>

namespace backplane::cel_detail {
namespace {

struct NamedKind {
  std::string_view name;
  const Type* type;
};
// Types without parameters, by the names that messages print.
constexpr NamedKind kNamed[] = {
    {"!error!", &kErrorType}, {"dyn", &kDynType},     {"any", &kAnyType},           {"null", &kNullType},
    {"bool", &kBoolType},     {"int", &kIntType},     {"uint", &kUintType},         {"double", &kDoubleType},
    {"string", &kStringType}, {"bytes", &kBytesType}, {"duration", &kDurationType}, {"timestamp", &kTimestampType},
    {"type", &kTypeType},
};

std::string_view kind_name(const Type& type) {
  switch (type.kind) {
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    case TypeKind::kStruct:
    case TypeKind::kOpaque:
    case TypeKind::kParam:
      return type.name;
    default:
      break;
  }
  for (const NamedKind& each : kNamed) {
    if (each.type->kind == type.kind) return each.name;
  }
  return {};
}

// Types that only libraries create, and that have no members.
bool is_opaque_name(std::string_view name) { return name == "net.IP" || name == "net.CIDR"; }

}  // namespace

std::string to_text(const Type& type) {
  const std::string name(kind_name(type));
  if (type.wrapper) return "wrapper(" + name + ")";
  if (type.parameters.empty()) return name;
  std::string out = name + "(";
  for (std::size_t i = 0; i < type.parameters.size(); ++i) out += (i > 0 ? ", " : "") + to_text(*type.parameters[i]);
  return out + ")";
}

std::string runtime_text(const Type& type) {
  switch (type.kind) {
    case TypeKind::kAny:
      return "google.protobuf.Any";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kNull:
      return "null_type";
    default:
      break;
  }
  if (type.parameters.empty()) return to_text(type);
  std::string out = std::string(kind_name(type)) + "(";
  for (std::size_t i = 0; i < type.parameters.size(); ++i) out += (i > 0 ? ", " : "") + runtime_text(*type.parameters[i]);
  return out + ")";
}

bool same(const Type& a, const Type& b) noexcept {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.name != b.name || a.parameters.size() != b.parameters.size()) return false;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (!same(*a.parameters[i], *b.parameters[i])) return false;
  }
  return true;
}

const Type* TypeArena::make(const Type& type, std::initializer_list<const Type*> parameters) {
  return with_parameters(type, std::vector<const Type*>(parameters));
}

const Type* TypeArena::with_parameters(const Type& type, std::vector<const Type*> parameters) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers.
  auto* kept = static_cast<const Type**>(memory_.allocate(parameters.size() * sizeof(const Type*) + 1, alignof(const Type*)));
  std::copy(parameters.begin(), parameters.end(), kept);
  auto* out = new (memory_.allocate(sizeof(Type), alignof(Type))) Type(type);
  out->parameters = {kept, parameters.size()};
  return out;
}

const Type* TypeArena::list(const Type* item) { return make({TypeKind::kList}, {item}); }
const Type* TypeArena::map(const Type* key, const Type* value) { return make({TypeKind::kMap}, {key, value}); }
const Type* TypeArena::optional(const Type* type) { return make({TypeKind::kOpaque, false, kOptionalName}, {type}); }
const Type* TypeArena::type_of(const Type* type) { return make({TypeKind::kType}, {type}); }
const Type* TypeArena::param(std::string_view name) { return make({TypeKind::kParam, false, keep(name)}, {}); }
const Type* TypeArena::structure(std::string_view name, const DeclType* decl) {
  return make({TypeKind::kStruct, false, keep(name), {}, decl}, {});
}

std::string_view TypeArena::keep(std::string_view text) {
  char* kept = static_cast<char*>(memory_.allocate(text.size() + 1, 1));
  std::memcpy(kept, text.data(), text.size());
  return {kept, text.size()};
}

const Type* TypeArena::declared(const DeclType& decl, std::string_view name) {
  using Form = DeclType::Form;
  switch (decl.form) {
    case Form::kDyn:
      return &kDynType;
    case Form::kBool:
      return &kBoolType;
    case Form::kInt:
      return &kIntType;
    case Form::kDouble:
      return &kDoubleType;
    case Form::kString:
      return &kStringType;
    case Form::kBytes:
      return &kBytesType;
    case Form::kDuration:
      return &kDurationType;
    case Form::kDate:
    case Form::kDateTime:
      return &kTimestampType;
    case Form::kList:
      return list(declared(*decl.items, std::string(name) + ".@idx"));
    case Form::kMap:
      return map(decl.keys == nullptr ? &kStringType : declared(*decl.keys, name), declared(*decl.items, std::string(name) + ".@elem"));
    case Form::kObject:
      return structure(decl.name.empty() ? name : std::string_view(decl.name), &decl);
    case Form::kOptional:
      return optional(declared(*decl.items, name));
    case Form::kNamed:
      return read(decl.name);
  }
  return &kDynType;
}

const Type* TypeArena::read(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    for (const NamedKind& each : kNamed) {
      if (each.name == text) return each.type;
    }
    if (text.size() == 1 && std::isupper(static_cast<unsigned char>(text[0])) != 0) return param(text);
    if (is_opaque_name(text)) return make({TypeKind::kOpaque, false, keep(text)}, {});
    return structure(text);
  }
  const std::string_view name = text.substr(0, open), inside = text.substr(open + 1, text.size() - open - 2);
  if (name == "list") return list(read(inside));
  if (name == "type") return type_of(read(inside));
  if (name == "map") {
    const std::size_t comma = inside.find(',');
    const std::size_t value = inside.find_first_not_of(' ', comma + 1);
    return map(read(inside.substr(0, comma)), read(inside.substr(value)));
  }
  assert(name == kOptionalName && "a type that no table of ours names");
  return optional(read(inside));
}

}  // namespace backplane::cel_detail

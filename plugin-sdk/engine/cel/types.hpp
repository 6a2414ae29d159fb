// The types of expressions, declarations of schemas, and the function table of checker and evaluator.
//
// Thread-safety: immutable once made.
// Lifetime:      the types named here and the table live as long as the process; others as long as their TypeArena.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/cel.hpp"

namespace backplane::cel_detail {

using cel::DeclType;

enum class TypeKind : unsigned char {
  kError,  // an operand has a problem already
  kDyn,
  kAny,  // google.protobuf.Any
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,    // parameters: item
  kMap,     // parameters: key, value
  kStruct,  // name; decl if a schema declares the type: "kubernetes.Quantity", "selfType1.spec"
  kOpaque,  // name and parameters: optional_type(T)
  kType,    // type(x); parameters: the type, or none
  kParam,   // name: A in list(A)
};

struct Type {
  TypeKind kind = TypeKind::kDyn;
  bool wrapper = false;  // google.protobuf.Int64Value and other wrappers: kInt … that may be null
  std::string_view name = {};
  std::span<const Type* const> parameters = {};
  const DeclType* decl = nullptr;
};

inline constexpr Type kErrorType{TypeKind::kError};
inline constexpr Type kDynType{TypeKind::kDyn};
inline constexpr Type kAnyType{TypeKind::kAny};
inline constexpr Type kNullType{TypeKind::kNull};
inline constexpr Type kBoolType{TypeKind::kBool};
inline constexpr Type kIntType{TypeKind::kInt};
inline constexpr Type kUintType{TypeKind::kUint};
inline constexpr Type kDoubleType{TypeKind::kDouble};
inline constexpr Type kStringType{TypeKind::kString};
inline constexpr Type kBytesType{TypeKind::kBytes};
inline constexpr Type kDurationType{TypeKind::kDuration};
inline constexpr Type kTimestampType{TypeKind::kTimestamp};
inline constexpr Type kTypeType{TypeKind::kType};
inline constexpr std::string_view kOptionalName = "optional_type";

// As upstream prints types: "list(int)", "map(string, dyn)", "optional_type(string)", "wrapper(int)", "type(bool)".
std::string to_text(const Type& type);
// Like to_text(), with the names that values have at run time: "google.protobuf.Timestamp", "null_type".
std::string runtime_text(const Type& type);
// Structural equality of types.
bool same(const Type& a, const Type& b) noexcept;
inline bool is_optional(const Type& type) noexcept { return type.kind == TypeKind::kOpaque && type.name == kOptionalName; }

// Makes types and owns them.
class TypeArena {
 public:
  const Type* list(const Type* item);
  const Type* map(const Type* key, const Type* value);
  const Type* optional(const Type* type);
  const Type* type_of(const Type* type);
  const Type* param(std::string_view name);
  const Type* structure(std::string_view name, const DeclType* decl = nullptr);
  const Type* with_parameters(const Type& type, std::vector<const Type*> parameters);
  // The type that a schema declares; objects are named `name`, their parts name.field, name.@idx, name.@elem.
  const Type* declared(const DeclType& decl, std::string_view name);
  // Reads "map(string, list(A))": single capital letters are parameters, unknown names are messages. The text is from a built-in table; an
  // invalid text fails an assertion.
  const Type* read(std::string_view text);
  std::string_view keep(std::string_view text);

 private:
  const Type* make(const Type& type, std::initializer_list<const Type*> parameters);
  std::pmr::monotonic_buffer_resource memory_;
};

// ---- functions

// The library of a function.  An environment has a library from the library's version of Kubernetes on, or if its owner requests the
// library.
enum class Library : unsigned char {
  kStandard,
  kCrossType,  // 1 < 1.5
  kOptional,
  kStrings,
  kSets,
  kTwoVariables,  // macros' helper: cel.@mapInsert
  kListsExt,      // cel-go's: range, flatten, sort …
  kUrls,
  kRegex,
  kLists,
  kQuantity,
  kAuthz,
  kAuthzSelectors,
  kIp,
  kCidr,
  kFormat,
  kSemver,
  kJsonPatch,  // on request: mutating policies
  kMath,       // on request, here and below
  kEncoders,
  kBindings,
  kRegexExt,
};

// The version of functions that Kubernetes does not have, although it has an earlier version of their library.
inline constexpr unsigned kNever = 1000;

// One row of the table.
struct Overload {
  std::string_view function;  // "startsWith", "_+_", "math.greatest"
  std::string_view id;        // cel-go's: "starts_with_string"
  bool receiver = false;      // a method: the first argument is the receiver
  Library library = Library::kStandard;
  unsigned since = 0;  // minor version of Kubernetes; 0: every version; kNever: none
  std::span<const Type* const> arguments;
  const Type* result = nullptr;
  std::uint32_t index = 0;  // index in overloads(), and of an evaluator's table of implementations
};

// Every overload of any environment, those of a function in upstream's order of declaration.
std::span<const Overload> overloads();
// The overloads of one function; empty: there is none.
std::span<const Overload> overloads_of(std::string_view function);
const Overload* find_overload(std::string_view id);

}  // namespace backplane::cel_detail

// ---- declarations of schemas

namespace backplane::cel {

struct DeclField {
  std::string name;       // the name in expressions: "__namespace__", "a__dot__b"
  std::string json_name;  // the name of the member in objects
  std::shared_ptr<const DeclType> type;
  bool required = false;
};

// The declaration of a schema for expressions.  Trees share nodes: a shared_ptr to a node keeps that node alive.
struct DeclType {
  enum class Form : unsigned char {
    kDyn,  // int-or-string, or anything
    kBool,
    kInt,
    kDouble,
    kString,
    kBytes,     // format: byte
    kDuration,  // format: duration
    kDate,      // format: date, a timestamp
    kDateTime,  // format: date-time
    kList,
    kMap,       // additionalProperties
    kObject,    // properties
    kOptional,  // of items
    kNamed,     // a type of a library: "kubernetes.authorization.Authorizer"
  };
  enum class ListForm : unsigned char { kAtomic, kSet, kMap };

  Form form = Form::kDyn;
  ListForm list_form = ListForm::kAtomic;
  bool int_or_string = false;
  bool nullable = false;
  bool preserves_unknown = false;
  bool embedded_resource = false;
  std::string name;                       // kNamed; of a kObject: its fixed name, or empty: named by its path
  std::vector<DeclField> fields;          // kObject; sorted by name
  std::vector<std::string> map_keys;      // ListForm::kMap: the key members, by their names in objects
  std::shared_ptr<const DeclType> items;  // kList, kMap, kOptional
  std::shared_ptr<const DeclType> keys;   // kMap; null: texts
  std::int64_t max_elements = 0;          // bytes of texts, items, entries; below 0: unknown
  std::int64_t min_size = 0;              // bytes of the smallest JSON

  // By the name in expressions; keywords may be unescaped ("namespace").  Null: none.
  const DeclField* field(std::string_view wanted) const noexcept;
};

}  // namespace backplane::cel

// Values of a run.  Texts, lists and objects of a bound tree are read in place by their declared type; values that the expression makes
// lie in the run's arena.
//
// Thread-safety: values are plain data with the thread-safety of their tree.
// Lifetime:      a value borrows the tree, its declared type, the program's constants, and the arena.
// Errors:        errors are values, worded like upstream's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "cel/arena.hpp"
#include "cel/types.hpp"

namespace backplane::cel_detail {

enum class ValKind : unsigned char {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kType,
  kOptional,
  kOpaque,
  kRaw,  // of a tree, below x-kubernetes-preserve-unknown-fields: supports only comparison
};

// The storage of a list's items or a map's entries.
enum class Place : unsigned char { kMade, kTree, kGrowing, kLazy };

struct MapBody;
struct Growing;
struct Opaque;
class LazyMap;

struct Val {
  ValKind kind = ValKind::kNull;
  Place place = Place::kMade;  // kList, kMap
  std::int16_t zone = 0;       // kTimestamp: minutes east of UTC that it is printed in
  std::uint32_t size = 0;      // kError, kString, kBytes, kType: bytes; kList: items; kTimestamp: nanoseconds of the second
  union {
    bool boolean;
    std::int64_t integer = 0;  // kInt; kDuration: nanoseconds; kTimestamp: seconds since 1970
    std::uint64_t natural;     // kUint
    double real;               // kDouble
    const char* text;          // kError, kString, kBytes, kType
    const Val* items;          // kList, Place::kMade
    const Array* array;        // kList, Place::kTree
    Growing* growing;          // kList or kMap, Place::kGrowing
    const MapBody* entries;    // kMap, Place::kMade
    const Object* object;      // kMap, Place::kTree
    LazyMap* lazy;             // kMap, Place::kLazy: values are evaluated when they are first read
    const Val* inner;          // kOptional; null: none
    const Opaque* opaque;      // kOpaque
    const backplane::Value* raw;
  };
  // The declared type of trees, and of lists made of them; null: dynamic.
  const cel::DeclType* decl = nullptr;

  std::string_view view() const noexcept { return {text, size}; }
  bool is(ValKind other) const noexcept { return kind == other; }
  bool is_error() const noexcept { return kind == ValKind::kError; }
};
static_assert(sizeof(Val) == 24);

struct MapEntry {
  Val key, value;
};
struct MapBody {
  const MapEntry* entries = nullptr;
  std::uint32_t size = 0;
  std::uint32_t buckets = 0;             // size of `index`: a power of two; 0: few entries, searched linearly
  const std::uint32_t* index = nullptr;  // by hash: entry + 1, 0 is free
  std::string_view type_name = {};       // the name of a message ("JSONPatch"); empty: a map
};
// The accumulator of a comprehension; a map has keys and values alternating.
struct Growing {
  Val* items = nullptr;
  std::uint32_t size = 0, capacity = 0;
  std::uint32_t* index = nullptr;  // for maps, like MapBody::index
  std::uint32_t buckets = 0;

  void add(Arena& arena, const Val& value);
  // False: the key exists already.
  bool insert(Arena& arena, const Val& key, const Val& value);
  const Val* find(const Val& key) const noexcept;
};

// A map whose values are evaluated when they are first read: the variables of a policy.
class LazyMap {
 public:
  virtual ~LazyMap();
  // False: there is no value of that name.
  virtual bool find(std::string_view name, Val& out) = 0;
  virtual std::size_t size() const noexcept = 0;
  virtual std::string_view name(std::size_t at) const noexcept = 0;
};

// A value of a library.
enum class OpaqueKind : unsigned char {
  kUrl,
  kQuantity,
  kIp,
  kCidr,
  kSemver,
  kFormat,
  kAuthorizer,
  kPathCheck,
  kGroupCheck,
  kResourceCheck,
  kDecision,
};
struct Opaque {
  OpaqueKind kind = OpaqueKind::kUrl;
};
std::string_view opaque_type_name(OpaqueKind kind) noexcept;

inline Val null_val() noexcept { return {}; }
inline Val bool_val(bool value) noexcept {
  Val out;
  out.kind = ValKind::kBool;
  out.boolean = value;
  return out;
}
inline Val int_val(std::int64_t value) noexcept {
  Val out;
  out.kind = ValKind::kInt;
  out.integer = value;
  return out;
}
inline Val uint_val(std::uint64_t value) noexcept {
  Val out;
  out.kind = ValKind::kUint;
  out.natural = value;
  return out;
}
inline Val double_val(double value) noexcept {
  Val out;
  out.kind = ValKind::kDouble;
  out.real = value;
  return out;
}
inline Val text_val(ValKind kind, std::string_view text) noexcept {
  Val out;
  out.kind = kind;
  out.text = text.data();
  out.size = static_cast<std::uint32_t>(text.size());
  return out;
}
inline Val string_val(std::string_view text) noexcept { return text_val(ValKind::kString, text); }
inline Val bytes_val(std::string_view text) noexcept { return text_val(ValKind::kBytes, text); }
inline Val type_val(std::string_view name) noexcept { return text_val(ValKind::kType, name); }
inline Val duration_val(std::int64_t nanoseconds) noexcept {
  Val out = int_val(nanoseconds);
  out.kind = ValKind::kDuration;
  return out;
}
inline Val timestamp_val(std::int64_t seconds, std::uint32_t nanoseconds, std::int16_t zone) noexcept {
  Val out = int_val(seconds);
  out.kind = ValKind::kTimestamp;
  out.size = nanoseconds;
  out.zone = zone;
  return out;
}
inline Val list_val(const Val* items, std::size_t size, const cel::DeclType* decl = nullptr) noexcept {
  Val out;
  out.kind = ValKind::kList;
  out.items = items;
  out.size = static_cast<std::uint32_t>(size);
  out.decl = decl;
  return out;
}
inline Val map_val(const MapBody* body) noexcept {
  Val out;
  out.kind = ValKind::kMap;
  out.entries = body;
  return out;
}
inline Val lazy_val(LazyMap& map) noexcept {
  Val out;
  out.kind = ValKind::kMap;
  out.place = Place::kLazy;
  out.lazy = &map;
  return out;
}
inline Val none_val() noexcept {
  Val out;
  out.kind = ValKind::kOptional;
  out.inner = nullptr;
  return out;
}
inline Val some_val(Arena& arena, const Val& value) {
  Val out;
  out.kind = ValKind::kOptional;
  out.inner = arena.keep(value);
  return out;
}
template <class T>
Val opaque_val(const T* body) noexcept {
  Val out;
  out.kind = ValKind::kOpaque;
  out.opaque = body;
  return out;
}
// `text` must live as long as the program, or lie in the arena.
inline Val error_val(std::string_view text) noexcept { return text_val(ValKind::kError, text); }
inline Val error_val(Arena& arena, std::string_view text) { return error_val(arena.keep_text(text)); }
inline Val no_overload() noexcept { return error_val("no such overload"); }
inline Val kept_string(Arena& arena, std::string_view text) { return string_val(arena.keep_text(text)); }

// Converts a value of a tree to a value of the run.
Val tree_val(Arena& arena, const backplane::Value& tree, const cel::DeclType* decl);
// Converts an object without a declared type.
Val object_val(const Object& object) noexcept;

// For lists: the number of items, and the item at `at`, which is below that number.
std::size_t list_size(const Val& list) noexcept;
Val list_at(Arena& arena, const Val& list, std::size_t at);

// Maps and objects.  Keys of objects are the names that expressions use.
std::size_t map_size(const Val& map) noexcept;
// False: there is no such key.  An error in place of the value counts as found.
bool map_find(Arena& arena, const Val& map, const Val& key, Val& out);
// Calls `visit(key, value)` until it returns false.
template <class Visit>
void map_each(Arena& arena, const Val& map, const Visit& visit);
Val make_map(Arena& arena, const MapEntry* entries, std::size_t size, std::string_view type_name = {});
// The name of a tree's member in expressions.  False: the member is not visible to expressions.
bool visible_member(const cel::DeclType& decl, std::string_view json_name, std::string_view& name, const cel::DeclType*& type) noexcept;
// The field of that name in expressions; null: there is none.
const cel::DeclField* field_of(const cel::DeclType& decl, std::string_view name) noexcept;

// "int", "list", "google.protobuf.Timestamp", "kubernetes.Quantity".
std::string_view type_name(const Val& value) noexcept;
// The value as Go's %v prints it in messages.
void append_plain(Arena& arena, std::string& out, const Val& value);
// Code points of a text.
std::size_t rune_count(std::string_view text) noexcept;
// The size for costs: code points, bytes, items, entries; 1 for other values.
std::uint64_t size_for_cost(const Val& value) noexcept;
// Whether optional.ofNonZeroValue treats the value as zero.
bool is_zero(const Val& value) noexcept;

template <class Visit>
void map_each(Arena& arena, const Val& map, const Visit& visit) {
  if (map.place == Place::kMade) {
    for (std::uint32_t i = 0; i < map.entries->size; ++i) {
      if (!visit(map.entries->entries[i].key, map.entries->entries[i].value)) return;
    }
    return;
  }
  if (map.place == Place::kGrowing) {
    for (std::uint32_t i = 0; i < map.growing->size; i += 2) {
      if (!visit(map.growing->items[i], map.growing->items[i + 1])) return;
    }
    return;
  }
  if (map.place == Place::kLazy) {
    for (std::size_t i = 0; i < map.lazy->size(); ++i) {
      Val value;
      map.lazy->find(map.lazy->name(i), value);
      if (!visit(string_val(map.lazy->name(i)), value)) return;
    }
    return;
  }
  for (const auto& member : *map.object) {
    const std::string_view json_name = member.key();
    std::string_view name = json_name;
    const cel::DeclType* type = nullptr;
    if (map.decl != nullptr && !visible_member(*map.decl, json_name, name, type)) continue;
    if (!visit(string_val(name), tree_val(arena, member.value(), type))) return;
  }
}

}  // namespace backplane::cel_detail

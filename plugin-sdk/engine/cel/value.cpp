#include "cel/value.hpp"

#include <bit>
#include <cmath>

#include "backplane/types/cel.hpp"
#include "cel/equality.hpp"
#include "cel/library_values.hpp"
#include "cel/text.hpp"

namespace backplane::cel_detail {

LazyMap::~LazyMap() = default;

std::string_view opaque_type_name(OpaqueKind kind) noexcept {
  switch (kind) {
    case OpaqueKind::kUrl:
      return "kubernetes.URL";
    case OpaqueKind::kQuantity:
      return "kubernetes.Quantity";
    case OpaqueKind::kIp:
      return "net.IP";
    case OpaqueKind::kCidr:
      return "net.CIDR";
    case OpaqueKind::kSemver:
      return "kubernetes.Semver";
    case OpaqueKind::kFormat:
      return "kubernetes.NamedFormat";
    case OpaqueKind::kAuthorizer:
      return "kubernetes.authorization.Authorizer";
    case OpaqueKind::kPathCheck:
      return "kubernetes.authorization.PathCheck";
    case OpaqueKind::kGroupCheck:
      return "kubernetes.authorization.GroupCheck";
    case OpaqueKind::kResourceCheck:
      return "kubernetes.authorization.ResourceCheck";
    case OpaqueKind::kDecision:
      return "kubernetes.authorization.Decision";
  }
  return "";
}

std::string_view type_name(const Val& value) noexcept {
  switch (value.kind) {
    case ValKind::kError:
      return "error";
    case ValKind::kNull:
      return "null_type";
    case ValKind::kBool:
      return "bool";
    case ValKind::kInt:
      return "int";
    case ValKind::kUint:
      return "uint";
    case ValKind::kDouble:
      return "double";
    case ValKind::kString:
      return "string";
    case ValKind::kBytes:
      return "bytes";
    case ValKind::kDuration:
      return "google.protobuf.Duration";
    case ValKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case ValKind::kList:
      return "list";
    case ValKind::kMap:
      return value.place == Place::kMade && !value.entries->type_name.empty() ? value.entries->type_name : "map";
    case ValKind::kType:
      return "type";
    case ValKind::kOptional:
      return "optional_type";
    case ValKind::kOpaque:
      return opaque_type_name(value.opaque->kind);
    case ValKind::kRaw:
      return "unknown";
  }
  return "";
}

std::size_t rune_count(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// ---- lists

std::size_t list_size(const Val& list) noexcept {
  switch (list.place) {
    case Place::kMade:
      return list.size;
    case Place::kTree:
      return list.array->size();
    case Place::kGrowing:
      return list.growing->size;
    case Place::kLazy:
      break;  // no list is lazy
  }
  return 0;
}

Val list_at(Arena& arena, const Val& list, std::size_t at) {
  switch (list.place) {
    case Place::kMade:
      return list.items[at];
    case Place::kTree:
      return tree_val(arena, (*list.array)[at], list.decl != nullptr ? list.decl->items.get() : nullptr);
    case Place::kGrowing:
      return list.growing->items[at];
    case Place::kLazy:
      break;  // no list is lazy
  }
  return {};
}

void Growing::add(Arena& arena, const Val& value) {
  if (size == capacity) {
    const std::uint32_t wanted = capacity == 0 ? 8 : capacity * 2;
    Val* bigger = arena.allocate<Val>(wanted);
    if (size != 0) std::memcpy(static_cast<void*>(bigger), items, size * sizeof(Val));
    items = bigger;
    capacity = wanted;
  }
  items[size++] = value;
}

// ---- maps

namespace {

constexpr std::uint32_t kSearched = 8;  // up to this many entries are searched linearly

std::uint32_t place_of(const Val& key, std::uint32_t buckets) noexcept { return static_cast<std::uint32_t>(hash_of(key)) & (buckets - 1); }

std::uint32_t* make_index(Arena& arena, std::uint32_t buckets) {
  auto* index = arena.allocate<std::uint32_t>(buckets);
  std::memset(index, 0, buckets * sizeof(std::uint32_t));
  return index;
}

template <class KeyAt>
std::uint32_t find_entry(const Val& key, std::uint32_t size, const std::uint32_t* index, std::uint32_t buckets,
                         const KeyAt& key_at) noexcept {
  if (buckets == 0) {
    for (std::uint32_t i = 0; i < size; ++i) {
      if (same_key(key_at(i), key)) return i;
    }
    return size;
  }
  for (std::uint32_t at = place_of(key, buckets);; at = (at + 1) & (buckets - 1)) {
    if (index[at] == 0) return size;
    if (same_key(key_at(index[at] - 1), key)) return index[at] - 1;
  }
}

void put_in_index(std::uint32_t* index, std::uint32_t buckets, const Val& key, std::uint32_t entry) noexcept {
  std::uint32_t at = place_of(key, buckets);
  while (index[at] != 0) at = (at + 1) & (buckets - 1);
  index[at] = entry + 1;
}

}  // namespace

const Val* Growing::find(const Val& key) const noexcept {
  const std::uint32_t entries = size / 2;
  const std::uint32_t found = find_entry(key, entries, index, buckets, [&](std::uint32_t i) -> const Val& { return items[i * 2]; });
  return found == entries ? nullptr : &items[found * 2 + 1];
}

bool Growing::insert(Arena& arena, const Val& key, const Val& value) {
  if (find(key) != nullptr) return false;
  add(arena, key);
  add(arena, value);
  const std::uint32_t entries = size / 2;
  if (buckets != 0 && entries * 2 <= buckets) {
    put_in_index(index, buckets, key, entries - 1);
  } else if (entries > kSearched) {
    buckets = std::bit_ceil(entries * 4);
    index = make_index(arena, buckets);
    for (std::uint32_t i = 0; i < entries; ++i) put_in_index(index, buckets, items[i * 2], i);
  }
  return true;
}

Val make_map(Arena& arena, const MapEntry* entries, std::size_t size, std::string_view type_name) {
  MapBody body;
  body.entries = entries;
  body.size = static_cast<std::uint32_t>(size);
  body.type_name = type_name;
  if (body.size > kSearched) {
    body.buckets = std::bit_ceil(body.size * 2);
    std::uint32_t* index = make_index(arena, body.buckets);
    for (std::uint32_t i = 0; i < body.size; ++i) put_in_index(index, body.buckets, entries[i].key, i);
    body.index = index;
  }
  return map_val(arena.keep(body));
}

std::size_t map_size(const Val& map) noexcept {
  switch (map.place) {
    case Place::kMade:
      return map.entries->size;
    case Place::kTree:
      return map.object->size();
    case Place::kGrowing:
      return map.growing->size / 2;
    case Place::kLazy:
      return map.lazy->size();
  }
  return 0;
}

bool visible_member(const cel::DeclType& decl, std::string_view json_name, std::string_view& name, const cel::DeclType*& type) noexcept {
  if (decl.form == cel::DeclType::Form::kMap) {
    name = json_name;
    type = decl.items.get();
    return true;
  }
  if (decl.form != cel::DeclType::Form::kObject) return false;
  for (const cel::DeclField& field : decl.fields) {
    if (field.json_name != json_name) continue;
    name = field.name;
    type = field.type.get();
    return true;
  }
  return false;
}

const cel::DeclField* field_of(const cel::DeclType& decl, std::string_view name) noexcept {
  if (const cel::DeclField* field = decl.field(name)) return field;
  for (const cel::DeclField& field : decl.fields) {
    // An unescaped keyword: namespace for __namespace__.
    if (field.json_name == name && field.name.size() == name.size() + 4) return &field;
  }
  return nullptr;
}

namespace {

bool find_in_tree(Arena& arena, const Val& map, const Val& key, Val& out) {
  if (key.kind != ValKind::kString) {
    if (map.decl == nullptr) return false;
    out = no_overload();
    return true;
  }
  std::string_view json_name = key.view();
  const cel::DeclType* type = nullptr;
  if (map.decl != nullptr) {
    if (map.decl->form == cel::DeclType::Form::kObject) {
      const cel::DeclField* field = field_of(*map.decl, json_name);
      if (field == nullptr) return false;
      json_name = field->json_name;
      type = field->type.get();
    } else if (map.decl->form == cel::DeclType::Form::kMap) {
      type = map.decl->items.get();
    } else {
      return false;
    }
  }
  const auto found = map.object->find(json_name);
  if (found == map.object->end()) return false;
  // A null member of an object with properties counts as absent; in a map it does not.
  if (map.decl != nullptr && map.decl->form == cel::DeclType::Form::kObject && found->value().is_null()) return false;
  out = tree_val(arena, found->value(), type);
  return true;
}

}  // namespace

bool map_find(Arena& arena, const Val& map, const Val& key, Val& out) {
  if (map.place == Place::kTree) return find_in_tree(arena, map, key, out);
  if (map.place == Place::kLazy) return key.is(ValKind::kString) && map.lazy->find(key.view(), out);
  if (map.place == Place::kGrowing) {
    const Val* found = map.growing->find(key);
    if (found != nullptr) out = *found;
    return found != nullptr;
  }
  const MapBody& body = *map.entries;
  const std::uint32_t found =
      find_entry(key, body.size, body.index, body.buckets, [&](std::uint32_t i) -> const Val& { return body.entries[i].key; });
  if (found == body.size) return false;
  out = body.entries[found].value;
  return true;
}

// ---- sizes and texts for costs and messages

std::uint64_t size_for_cost(const Val& value) noexcept {
  switch (value.kind) {
    case ValKind::kString:
      return rune_count(value.view());
    case ValKind::kBytes:
      return value.size;
    case ValKind::kList:
      return list_size(value);
    case ValKind::kMap:
      return map_size(value);
    case ValKind::kOpaque:
      return opaque_size(*value.opaque);
    default:
      return 1;
  }
}

bool is_zero(const Val& value) noexcept {
  switch (value.kind) {
    case ValKind::kNull:
      return true;
    case ValKind::kBool:
      return !value.boolean;
    case ValKind::kInt:
    case ValKind::kUint:
    case ValKind::kDuration:
      return value.integer == 0;
    case ValKind::kDouble:
      return value.real == 0;
    case ValKind::kString:
    case ValKind::kBytes:
      return value.size == 0;
    case ValKind::kTimestamp:
      return value.integer == -62135596800 && value.size == 0;
    case ValKind::kList:
      // As upstream, lists and maps of a typed tree are never zero values.
      return (value.place != Place::kTree || value.decl == nullptr) && list_size(value) == 0;
    case ValKind::kMap:
      return (value.place != Place::kTree || value.decl == nullptr) && map_size(value) == 0;
    default:
      return false;
  }
}

void append_plain(Arena& arena, std::string& out, const Val& value) {
  switch (value.kind) {
    case ValKind::kList: {
      out.push_back('[');
      for (std::size_t i = 0; i < list_size(value); ++i) {
        if (i != 0) out.append(", ");
        append_plain(arena, out, list_at(arena, value, i));
      }
      out.push_back(']');
      return;
    }
    case ValKind::kMap: {
      out.push_back('{');
      bool first = true;
      map_each(arena, value, [&](const Val& key, const Val& item) {
        if (!first) out.append(", ");
        first = false;
        append_plain(arena, out, key);
        out.append(": ");
        append_plain(arena, out, item);
        return true;
      });
      out.push_back('}');
      return;
    }
    case ValKind::kOptional:
      if (value.inner == nullptr) {
        out.append("optional.none()");
      } else {
        out.append("optional(");
        append_plain(arena, out, *value.inner);
        out.push_back(')');
      }
      return;
    case ValKind::kNull:
      out.append("NULL_VALUE");
      return;
    case ValKind::kDuration:
      append_go_duration(out, value.integer);
      return;
    default: {
      Val text = to_text_val(arena, value);
      out.append(text.view());
    }
  }
}

}  // namespace backplane::cel_detail

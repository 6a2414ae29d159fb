#include "cel/equality.hpp"

#include <cmath>
#include <limits>
#include <unordered_map>

#include "backplane/types/cel.hpp"
#include "cel/library_values.hpp"

namespace backplane::cel_detail {
namespace {

using ListForm = cel::DeclType::ListForm;

// ---- numbers

int order(double a, double b) noexcept { return a < b ? -1 : int(a > b); }

int order(double real, std::int64_t whole) noexcept {
  if (real < -9223372036854775808.0) return -1;
  if (real > 9223372036854775807.0) return 1;
  return order(real, static_cast<double>(whole));
}
int order(double real, std::uint64_t whole) noexcept {
  if (real < 0) return -1;
  if (real > 18446744073709551615.0) return 1;
  return order(real, static_cast<double>(whole));
}
int order(std::int64_t a, std::uint64_t b) noexcept {
  if (a < 0 || b > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return -1;
  const auto other = static_cast<std::int64_t>(b);
  return a < other ? -1 : int(a > other);
}

bool is_number(const Val& value) noexcept { return value.is(ValKind::kInt) || value.is(ValKind::kUint) || value.is(ValKind::kDouble); }
bool is_nan(const Val& value) noexcept { return value.is(ValKind::kDouble) && std::isnan(value.real); }

int order_numbers(const Val& a, const Val& b) noexcept {
  if (a.is(ValKind::kDouble)) {
    if (b.is(ValKind::kDouble)) return order(a.real, b.real);
    return b.is(ValKind::kInt) ? order(a.real, b.integer) : order(a.real, b.natural);
  }
  if (b.is(ValKind::kDouble)) return -order_numbers(b, a);
  if (a.is(ValKind::kInt))
    return b.is(ValKind::kInt) ? (a.integer < b.integer ? -1 : int(a.integer > b.integer)) : order(a.integer, b.natural);
  return b.is(ValKind::kInt) ? -order(b.integer, a.natural) : (a.natural < b.natural ? -1 : int(a.natural > b.natural));
}

// ---- lists and maps

bool typed_as(const Val& list, ListForm form) noexcept { return list.decl != nullptr && list.decl->list_form == form; }

Equal equal_items(Arena& arena, const Val& a, const Val& b) {
  const std::size_t size = list_size(a);
  for (std::size_t i = 0; i < size; ++i) {
    const Equal answer = equal(arena, list_at(arena, a, i), list_at(arena, b, i));
    // As upstream, lists that an expression has made treat a pair that cannot be compared as equal.
    if (answer == Equal::kNo || (answer == Equal::kNoOverload && a.decl != nullptr)) return answer;
  }
  return Equal::kYes;
}

// The values of a map list's keys in an item, as one text; an absent key is part of the identity.
std::string key_of(Arena& arena, const Val& item, const cel::DeclType& list) {
  std::string out;
  for (const std::string& key : list.map_keys) {
    Val value;
    const std::string name = cel::escape(key);
    const std::string_view asked = name.empty() ? std::string_view(key) : std::string_view(name);
    if (item.is(ValKind::kMap) && map_find(arena, item, string_val(asked), value)) {
      out.append(type_name(value)).push_back(':');
      append_plain(arena, out, value);
    }
    out.push_back('\0');
  }
  return out;
}

using Places = std::unordered_map<std::string, std::size_t>;

Places places_by_key(Arena& arena, const Val& list) {
  Places out;
  for (std::size_t i = 0; i < list_size(list); ++i) out[key_of(arena, list_at(arena, list, i), *list.decl)] = i;
  return out;
}

Equal equal_map_lists(Arena& arena, const Val& a, const Val& b) {
  const Places places = places_by_key(arena, a);
  for (std::size_t i = 0; i < list_size(b); ++i) {
    const Val item = list_at(arena, b, i);
    const auto found = places.find(key_of(arena, item, *a.decl));
    if (found == places.end()) return Equal::kNo;
    const Equal answer = equal(arena, list_at(arena, a, found->second), item);
    if (answer != Equal::kYes) return answer;
  }
  return Equal::kYes;
}

// Sets hold scalars, so the values that `contains` compares can be hashed.
class ScalarSet {
 public:
  ScalarSet(Arena& arena, const Val& list) : arena_(arena) {
    for (std::size_t i = 0; i < list_size(list); ++i) add(list_at(arena, list, i));
  }
  bool add(const Val& item) {
    if (has(item)) return false;
    items_.emplace(hash_of(item), item);
    return true;
  }
  bool has(const Val& item) const {
    const auto [begin, end] = items_.equal_range(hash_of(item));
    for (auto at = begin; at != end; ++at) {
      if (equal(arena_, at->second, item) == Equal::kYes) return true;
    }
    return false;
  }

 private:
  Arena& arena_;
  std::unordered_multimap<std::uint64_t, Val> items_;
};

Equal equal_sets(Arena& arena, const Val& a, const Val& b) {
  const ScalarSet set(arena, a);
  for (std::size_t i = 0; i < list_size(b); ++i) {
    if (!set.has(list_at(arena, b, i))) return Equal::kNo;
  }
  return Equal::kYes;
}

Equal equal_lists(Arena& arena, const Val& a, const Val& b) {
  if (list_size(a) != list_size(b)) return Equal::kNo;
  if (typed_as(a, ListForm::kSet)) return equal_sets(arena, a, b);
  if (typed_as(a, ListForm::kMap)) return equal_map_lists(arena, a, b);
  return equal_items(arena, a, b);
}

// Members of a tree that are not visible to expressions are compared as JSON.
Equal equal_objects(Arena& arena, const Val& a, const Val& b) {
  for (const auto& member : *a.object) {
    std::string_view name = member.key();
    const cel::DeclType* type = nullptr;
    if (visible_member(*a.decl, member.key(), name, type)) {
      Val left, right;
      const bool found = map_find(arena, a, string_val(name), left);
      if (map_find(arena, b, string_val(name), right) != found) return Equal::kNo;
      if (!found) continue;
      const Equal answer = equal(arena, left, right);
      if (answer != Equal::kYes) return answer;
    } else if (b.place != Place::kTree) {
      return Equal::kNoOverload;
    } else if (const auto other = b.object->find(member.key()); other != b.object->end() && other->value() != member.value()) {
      return Equal::kNo;
    }
  }
  return Equal::kYes;
}

Equal equal_maps(Arena& arena, const Val& a, const Val& b) {
  if (map_size(a) != map_size(b) || type_name(a) != type_name(b)) return Equal::kNo;
  if (a.place == Place::kTree && a.decl != nullptr) return equal_objects(arena, a, b);
  Equal out = Equal::kYes;
  map_each(arena, a, [&](const Val& key, const Val& value) {
    Val other;
    if (!map_find(arena, b, key, other) || equal(arena, value, other) == Equal::kNo) out = Equal::kNo;
    return out == Equal::kYes;
  });
  return out;
}

Equal yes(bool answer) noexcept { return answer ? Equal::kYes : Equal::kNo; }

}  // namespace

Equal equal(Arena& arena, const Val& a, const Val& b) {
  if (a.is(ValKind::kNull) || b.is(ValKind::kNull)) return yes(a.kind == b.kind);
  if (is_number(a) && is_number(b)) return yes(!is_nan(a) && !is_nan(b) && order_numbers(a, b) == 0);
  if (a.is(ValKind::kOpaque)) return b.is(ValKind::kOpaque) ? equal_opaque(*a.opaque, *b.opaque) : Equal::kNoOverload;
  if (a.kind != b.kind) {
    // Comparing a typed list or map with another kind of value is an error; other kinds simply differ.
    const bool typed = (a.is(ValKind::kList) || a.is(ValKind::kMap)) && a.decl != nullptr;
    return typed ? Equal::kNoOverload : Equal::kNo;
  }
  switch (a.kind) {
    case ValKind::kBool:
      return yes(a.boolean == b.boolean);
    case ValKind::kString:
    case ValKind::kBytes:
    case ValKind::kType:
      return yes(a.view() == b.view());
    case ValKind::kDuration:
      return yes(a.integer == b.integer);
    case ValKind::kTimestamp:
      return yes(a.integer == b.integer && a.size == b.size);
    case ValKind::kList:
      return equal_lists(arena, a, b);
    case ValKind::kMap:
      return equal_maps(arena, a, b);
    case ValKind::kOptional:
      if (a.inner == nullptr || b.inner == nullptr) return yes(a.inner == b.inner);
      return equal(arena, *a.inner, *b.inner);
    case ValKind::kRaw:
      return yes(*a.raw == *b.raw);
    default:
      return Equal::kNoOverload;
  }
}

Val compare(const Val& a, const Val& b) {
  if (is_number(a) && is_number(b)) {
    if (is_nan(a) || is_nan(b)) return error_val("NaN values cannot be ordered");
    return int_val(order_numbers(a, b));
  }
  if (a.kind != b.kind) return no_overload();
  switch (a.kind) {
    case ValKind::kBool:
      return int_val(int(a.boolean) - int(b.boolean));
    case ValKind::kString:
    case ValKind::kBytes: {
      const int answer = a.view().compare(b.view());
      return int_val(answer < 0 ? -1 : int(answer > 0));
    }
    case ValKind::kDuration:
      return int_val(a.integer < b.integer ? -1 : int(a.integer > b.integer));
    case ValKind::kTimestamp:
      if (a.integer != b.integer) return int_val(a.integer < b.integer ? -1 : 1);
      return int_val(a.size < b.size ? -1 : int(a.size > b.size));
    default:
      return no_overload();
  }
}

bool same_key(const Val& a, const Val& b) noexcept {
  if (is_number(a) && is_number(b)) return !is_nan(a) && !is_nan(b) && order_numbers(a, b) == 0;
  if (a.kind != b.kind) return false;
  if (a.is(ValKind::kBool)) return a.boolean == b.boolean;
  return (a.is(ValKind::kString) || a.is(ValKind::kBytes)) && a.view() == b.view();
}

std::uint64_t hash_of(const Val& key) noexcept {
  switch (key.kind) {
    case ValKind::kBool:
      return key.boolean ? 1 : 2;
    case ValKind::kInt:
      return std::hash<double>()(static_cast<double>(key.integer));
    case ValKind::kUint:
      return std::hash<double>()(static_cast<double>(key.natural));
    case ValKind::kDouble:
      return std::hash<double>()(key.real);
    case ValKind::kString:
    case ValKind::kBytes:
      return std::hash<std::string_view>()(key.view());
    case ValKind::kDuration:
    case ValKind::kTimestamp:
      return std::hash<std::int64_t>()(key.integer);
    default:
      return 0;
  }
}

Val contains(Arena& arena, const Val& container, const Val& item) {
  if (container.is(ValKind::kMap)) {
    Val found;
    if (!map_find(arena, container, item, found)) return bool_val(false);
    return found.is_error() ? found : bool_val(true);
  }
  if (!container.is(ValKind::kList)) return no_overload();
  bool typed = container.decl != nullptr, refused = false;
  for (std::size_t i = 0; i < list_size(container); ++i) {
    const Equal answer = equal(arena, list_at(arena, container, i), item);
    if (answer == Equal::kYes) return bool_val(true);
    refused = refused || answer == Equal::kNoOverload;
  }
  return typed && refused ? no_overload() : bool_val(false);
}

namespace {

Val merge_by_key(Arena& arena, const Val& a, const Val& b) {
  const std::size_t size = list_size(a);
  Val* items = arena.allocate<Val>(size + list_size(b));
  for (std::size_t i = 0; i < size; ++i) items[i] = list_at(arena, a, i);
  const Places places = places_by_key(arena, a);
  std::size_t end = size;
  for (std::size_t i = 0; i < list_size(b); ++i) {
    const Val item = list_at(arena, b, i);
    const auto found = places.find(key_of(arena, item, *a.decl));
    items[found == places.end() ? end++ : found->second] = item;
  }
  return list_val(items, end, a.decl);
}

Val unite(Arena& arena, const Val& a, const Val& b) {
  const std::size_t size = list_size(a);
  Val* items = arena.allocate<Val>(size + list_size(b));
  for (std::size_t i = 0; i < size; ++i) items[i] = list_at(arena, a, i);
  ScalarSet set(arena, a);
  std::size_t end = size;
  for (std::size_t i = 0; i < list_size(b); ++i) {
    const Val item = list_at(arena, b, i);
    if (set.add(item)) items[end++] = item;
  }
  return list_val(items, end, a.decl);
}

}  // namespace

Val concatenate(Arena& arena, const Val& a, const Val& b) {
  if (!b.is(ValKind::kList)) return no_overload();
  if (a.place == Place::kGrowing) {
    const std::size_t size = list_size(b);
    for (std::size_t i = 0; i < size; ++i) a.growing->add(arena, list_at(arena, b, i));
    return a;
  }
  if (typed_as(a, ListForm::kMap)) return merge_by_key(arena, a, b);
  if (typed_as(a, ListForm::kSet)) return unite(arena, a, b);
  const std::size_t left = list_size(a), right = list_size(b);
  if (left == 0 && a.decl == nullptr) return b;
  if (right == 0) return a;
  Val* items = arena.allocate<Val>(left + right);
  for (std::size_t i = 0; i < left; ++i) items[i] = list_at(arena, a, i);
  for (std::size_t i = 0; i < right; ++i) items[left + i] = list_at(arena, b, i);
  return list_val(items, left + right, a.decl);
}

}  // namespace backplane::cel_detail

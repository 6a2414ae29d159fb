// Lists and sets: cel-go's own, and Kubernetes's.
#include <algorithm>
#include <array>
#include <vector>

#include "cel/equality.hpp"
#include "cel/functions.hpp"

namespace backplane::cel_detail {
namespace {

Val keep_list(Arena& arena, const std::vector<Val>& items) {
  Val* copy = arena.allocate<Val>(items.size());
  std::copy(items.begin(), items.end(), copy);
  return list_val(copy, items.size());
}

// ---- sets

bool holds(const Val& answer) noexcept { return answer.is(ValKind::kBool) && answer.boolean; }

Val contains_all(Arena& arena, const Val& list, const Val& items) {
  for (std::size_t i = 0; i < list_size(items); ++i) {
    const Val answer = contains(arena, list, list_at(arena, items, i));
    if (!holds(answer)) return answer;
  }
  return bool_val(true);
}
Val sets_contains(Call& call) { return contains_all(call.arena, call[0], call[1]); }
Val sets_equivalent(Call& call) {
  const Val answer = contains_all(call.arena, call[0], call[1]);
  return holds(answer) ? contains_all(call.arena, call[1], call[0]) : answer;
}
Val sets_intersects(Call& call) {
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    if (holds(contains(call.arena, call[1], list_at(call.arena, call[0], i)))) return bool_val(true);
  }
  return bool_val(false);
}

// ---- cel-go's lists

Val slice(Call& call) {
  const std::int64_t begin = call[1].integer, end = call[2].integer, size = static_cast<std::int64_t>(list_size(call[0]));
  const std::string cannot = "cannot slice(" + std::to_string(begin) + ", " + std::to_string(end) + "), ";
  if (begin < 0 || end < 0) return error_val(call.arena, cannot + "negative indexes not supported");
  if (begin > end) return error_val(call.arena, cannot + "start index must be less than or equal to end index");
  if (size < end) return error_val(call.arena, cannot + "list is length " + std::to_string(size));
  const auto count = static_cast<std::size_t>(end - begin);
  Val* items = call.arena.allocate<Val>(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = list_at(call.arena, call[0], static_cast<std::size_t>(begin) + i);
  return list_val(items, count);
}

// Recursion is bounded by the nesting of the lists, which the expression determines.
void flatten(Arena& arena, const Val& list, std::int64_t depth, std::vector<Val>& out) {
  for (std::size_t i = 0; i < list_size(list); ++i) {
    const Val item = list_at(arena, list, i);
    if (depth > 0 && item.is(ValKind::kList)) {
      flatten(arena, item, depth - 1, out);
    } else {
      arena.expect((out.size() + 1) * sizeof(Val));
      out.push_back(item);
    }
  }
}
Val flatten_list(Call& call) {
  if (!call[0].is(ValKind::kList) || (call.size() > 1 && !call[1].is(ValKind::kInt))) return no_overload();
  const std::int64_t depth = call.size() > 1 ? call[1].integer : 1;
  if (depth < 0) return error_val("level must be non-negative");
  std::vector<Val> items;
  flatten(call.arena, call[0], depth, items);
  return keep_list(call.arena, items);
}

Val range(Call& call) {
  const std::int64_t size = std::max<std::int64_t>(call[0].integer, 0);
  Val* items = call.arena.allocate<Val>(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) items[i] = int_val(i);
  return list_val(items, static_cast<std::size_t>(size));
}

Val reverse(Call& call) {
  const std::size_t size = list_size(call[0]);
  Val* items = call.arena.allocate<Val>(size);
  for (std::size_t i = 0; i < size; ++i) items[i] = list_at(call.arena, call[0], size - 1 - i);
  return list_val(items, size);
}

bool is_hashable(const Val& item) noexcept { return item.kind >= ValKind::kBool && item.kind <= ValKind::kTimestamp; }

Val distinct(Call& call) {
  std::vector<Val> items;
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    const Val item = list_at(call.arena, call[0], i);
    const std::uint64_t hash = hash_of(item);
    bool seen = false;
    for (std::size_t j = 0; j < items.size() && !seen; ++j) {
      const bool differ = is_hashable(item) && is_hashable(items[j]) && hash != hashes[j];
      seen = !differ && equal(call.arena, item, items[j]) == Equal::kYes;
    }
    if (seen) continue;
    items.push_back(item);
    hashes.push_back(hash);
  }
  return keep_list(call.arena, items);
}

Val sort_by(Call& call, const Val& list, const Val& keys) {
  const std::size_t size = list_size(list);
  if (size != list_size(keys)) {
    return error_val(call.arena, "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got " +
                                     std::to_string(size) + " and " + std::to_string(list_size(keys)) + " elements respectively");
  }
  if (size == 0) return list;
  struct Pair {
    Val key, item;
  };
  std::vector<Pair> pairs;
  pairs.reserve(size);
  for (std::size_t i = 0; i < size; ++i) pairs.push_back({list_at(call.arena, keys, i), list_at(call.arena, list, i)});
  if (compare(pairs[0].key, pairs[0].key).is_error() && !pairs[0].key.is(ValKind::kDouble))
    return error_val("list elements must be comparable");
  for (const Pair& pair : pairs) {
    if (pair.key.kind != pairs[0].key.kind && size > 1) return error_val("list elements must have the same type");
  }
  // NaN keeps its position, because it is not less than any number.
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    const Val order = compare(a.key, b.key);
    return !order.is_error() && order.integer < 0;
  });
  Val* items = call.arena.allocate<Val>(size);
  for (std::size_t i = 0; i < size; ++i) items[i] = pairs[i].item;
  return list_val(items, size);
}
Val sort(Call& call) { return call[0].is(ValKind::kList) ? sort_by(call, call[0], call[0]) : error_val("no such overload: sort"); }
Val sort_by_keys(Call& call) { return sort_by(call, call[0], call[1]); }

Val first(Call& call) { return list_size(call[0]) == 0 ? none_val() : some_val(call.arena, list_at(call.arena, call[0], 0)); }
Val last(Call& call) {
  const std::size_t size = list_size(call[0]);
  return size == 0 ? none_val() : some_val(call.arena, list_at(call.arena, call[0], size - 1));
}

// ---- Kubernetes's lists

Val is_sorted(Call& call) {
  const std::size_t size = list_size(call[0]);
  Val before;
  for (std::size_t i = 0; i < size; ++i) {
    const Val item = list_at(call.arena, call[0], i);
    if (i != 0) {
      const Val order = compare(before, item);
      if (!order.is_error() && order.integer > 0) return bool_val(false);
    }
    before = item;
  }
  return bool_val(true);
}

template <ValKind kKind>
Val sum(Call& call) {
  Val total = int_val(0);  // zero has the same bits in every member of the union
  total.kind = kKind;
  const Function plus = operator_of("_+_");
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    const std::array<Val, 2> operands = {total, list_at(call.arena, call[0], i)};
    Call add{call.arena, operands};
    total = plus(add);
    if (total.is_error()) return total;
  }
  return total;
}

template <int kSign>
Val extreme(Call& call) {
  const std::size_t size = list_size(call[0]);
  if (size == 0) return error_val(kSign > 0 ? "min called on empty list" : "max called on empty list");
  Val best = list_at(call.arena, call[0], 0);
  for (std::size_t i = 1; i < size; ++i) {
    const Val item = list_at(call.arena, call[0], i);
    const Val order = compare(best, item);
    if (!order.is_error() && order.integer == kSign) best = item;
  }
  return best;
}

Val index_of(Call& call) {
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    if (equal(call.arena, list_at(call.arena, call[0], i), call[1]) == Equal::kYes) return int_val(static_cast<std::int64_t>(i));
  }
  return int_val(-1);
}
Val last_index_of(Call& call) {
  for (std::size_t i = list_size(call[0]); i > 0; --i) {
    if (equal(call.arena, list_at(call.arena, call[0], i - 1), call[1]) == Equal::kYes) return int_val(static_cast<std::int64_t>(i - 1));
  }
  return int_val(-1);
}

constexpr Implementation kSets[] = {
    {"list_sets_contains_list", sets_contains},
    {"list_sets_equivalent_list", sets_equivalent},
    {"list_sets_intersects_list", sets_intersects},
};

constexpr Implementation kLists[] = {
    {"list_slice", slice},
    {"list_flatten", flatten_list},
    {"list_flatten_int", flatten_list},
    {"lists_range", range},
    {"list_reverse", reverse},
    {"list_distinct", distinct},
    {"list_first", first},
    {"list_last", last},
    {"list_int_sort", sort},
    {"list_uint_sort", sort},
    {"list_double_sort", sort},
    {"list_bool_sort", sort},
    {"list_google.protobuf.Duration_sort", sort},
    {"list_google.protobuf.Timestamp_sort", sort},
    {"list_string_sort", sort},
    {"list_bytes_sort", sort},
    {"list_int_sortByAssociatedKeys", sort_by_keys},
    {"list_uint_sortByAssociatedKeys", sort_by_keys},
    {"list_double_sortByAssociatedKeys", sort_by_keys},
    {"list_bool_sortByAssociatedKeys", sort_by_keys},
    {"list_google.protobuf.Duration_sortByAssociatedKeys", sort_by_keys},
    {"list_google.protobuf.Timestamp_sortByAssociatedKeys", sort_by_keys},
    {"list_string_sortByAssociatedKeys", sort_by_keys},
    {"list_bytes_sortByAssociatedKeys", sort_by_keys},
};

constexpr Implementation kKubernetes[] = {
    {"list_int_is_sorted_bool", is_sorted},
    {"list_uint_is_sorted_bool", is_sorted},
    {"list_double_is_sorted_bool", is_sorted},
    {"list_bool_is_sorted_bool", is_sorted},
    {"list_duration_is_sorted_bool", is_sorted},
    {"list_timestamp_is_sorted_bool", is_sorted},
    {"list_string_is_sorted_bool", is_sorted},
    {"list_bytes_is_sorted_bool", is_sorted},
    {"list_int_sum_int", sum<ValKind::kInt>},
    {"list_uint_sum_uint", sum<ValKind::kUint>},
    {"list_double_sum_double", sum<ValKind::kDouble>},
    {"list_duration_sum_duration", sum<ValKind::kDuration>},
    {"list_int_max_int", extreme<-1>},
    {"list_uint_max_uint", extreme<-1>},
    {"list_double_max_double", extreme<-1>},
    {"list_bool_max_bool", extreme<-1>},
    {"list_duration_max_duration", extreme<-1>},
    {"list_timestamp_max_timestamp", extreme<-1>},
    {"list_string_max_string", extreme<-1>},
    {"list_bytes_max_bytes", extreme<-1>},
    {"list_int_min_int", extreme<1>},
    {"list_uint_min_uint", extreme<1>},
    {"list_double_min_double", extreme<1>},
    {"list_bool_min_bool", extreme<1>},
    {"list_duration_min_duration", extreme<1>},
    {"list_timestamp_min_timestamp", extreme<1>},
    {"list_string_min_string", extreme<1>},
    {"list_bytes_min_bytes", extreme<1>},
    {"list_a_index_of_int", index_of},
    {"list_a_last_index_of_int", last_index_of},
};

}  // namespace

std::span<const Implementation> set_functions() { return kSets; }
std::span<const Implementation> list_functions() { return kLists; }
std::span<const Implementation> kubernetes_list_functions() { return kKubernetes; }

}  // namespace backplane::cel_detail

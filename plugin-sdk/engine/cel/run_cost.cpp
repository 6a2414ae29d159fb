#include "cel/run_cost.hpp"

#include <algorithm>
#include <cmath>

#include "cel/formats.hpp"
#include "cel/function_costs.hpp"
#include "cel/library_values.hpp"

namespace backplane::cel_detail {
namespace charges {

static std::uint64_t up(double cost) { return static_cast<std::uint64_t>(std::ceil(cost)); }
static double size(const Val& value) { return static_cast<double>(size_for_cost(value)); }
// cel-go's costs include the content of optional values.
static double core_size(const Val& value) {
  return value.is(ValKind::kOptional) && value.inner != nullptr ? core_size(*value.inner) : size(value);
}

std::uint64_t one(Arena&, Arguments, const Val&) { return 1; }
std::uint64_t check(Arena&, Arguments, const Val&) { return 350'000; }
std::uint64_t traverse(Arena&, Arguments args, const Val&) { return up(size(args[0]) * kTextFactor); }
static std::uint64_t traverse_core(Arena&, Arguments args, const Val&) { return up(core_size(args[0]) * kTextFactor); }
std::uint64_t traverse_twice(Arena&, Arguments args, const Val&) { return up(size(args[0]) * 2 * kTextFactor); }
std::uint64_t make_result(Arena&, Arguments, const Val& result) { return up(size(result) * 2 * kTextFactor); }
static std::uint64_t search(Arena&, Arguments args, const Val&) { return static_cast<std::uint64_t>(core_size(args[1])); }
static std::uint64_t shorter(Arena&, Arguments args, const Val&) {
  // Short texts have the same cost regardless of their length, so characters are not counted.
  const auto few = [](const Val& value) {
    return (value.is(ValKind::kString) || value.is(ValKind::kBytes)) && value.size > 0 && value.size <= 10;
  };
  const auto some = [](const Val& value) { return (value.is(ValKind::kString) || value.is(ValKind::kBytes)) && value.size > 0; };
  if ((few(args[0]) && some(args[1])) || (some(args[0]) && few(args[1]))) return 1;
  return up(std::min(core_size(args[0]), core_size(args[1])) * kTextFactor);
}
std::uint64_t equality(Arena& arena, Arguments args, const Val& result) {
  return args[0].is(ValKind::kOpaque) ? 1 : shorter(arena, args, result);
}
static std::uint64_t joined(Arena&, Arguments args, const Val&) { return up((core_size(args[0]) + core_size(args[1])) * kTextFactor); }
std::uint64_t pattern(Arena&, Arguments args, const Val&) {
  return up((1.0 + size(args[0])) * kTextFactor) * up(size(args[1]) * kPatternFactor);
}
static std::uint64_t substring(Arena&, Arguments args, const Val&) {
  return up(size(args[0]) * kTextFactor) * up(size(args[1]) * kTextFactor);
}

std::uint64_t selector(Arena&, Arguments args, const Val&) {
  const double length = size(args[1]);
  const std::uint64_t requirements = up(length * 0.5);
  return kListCost + up(length * kTextFactor) + up(static_cast<double>(requirements) * static_cast<double>(kListCost + kMessageCost));
}

// The cost of reading the whole tree of a value.
static std::uint64_t whole(Arena& arena, const Val& value) {
  std::uint64_t cost = 0;
  switch (value.kind) {
    case ValKind::kString:
    case ValKind::kBytes:
      return static_cast<std::uint64_t>(value.size * kTextFactor);
    case ValKind::kList:
      for (std::size_t i = 0; i < list_size(value); ++i) cost += whole(arena, list_at(arena, value, i));
      return cost;
    case ValKind::kMap:
      map_each(arena, value, [&](const Val& key, const Val& item) {
        cost += whole(arena, key) + whole(arena, item);
        return true;
      });
      return cost;
    default:
      return 1;
  }
}
std::uint64_t whole_first(Arena& arena, Arguments args, const Val&) { return whole(arena, args[0]); }

static std::uint64_t contains_ip(Arena&, Arguments args, const Val&) { return up((size(args[0]) + size(args[0])) * kTextFactor); }
static std::uint64_t contains_ip_text(Arena& arena, Arguments args, const Val& result) {
  return contains_ip(arena, args, result) + up(size(args[1]) * kTextFactor);
}
static std::uint64_t contains_cidr(Arena& arena, Arguments args, const Val& result) {
  return contains_ip(arena, args, result) + up(size(args[0]) * kTextFactor) + 1;
}
static std::uint64_t contains_cidr_text(Arena& arena, Arguments args, const Val& result) {
  return contains_cidr(arena, args, result) + up(size(args[1]) * kTextFactor);
}

std::uint64_t validate(Arena&, Arguments args, const Val&) {
  if (!is_opaque(args[0], OpaqueKind::kFormat)) return 1;
  const auto regex = static_cast<double>(as<FormatVal>(args[0]).row->regex_size);
  return up((1.0 + size(args[1])) * kTextFactor) * up(regex * kPatternFactor);
}

// The cost of a call that makes a list: one for the call, and the list.
static std::uint64_t listed(double cost) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(cost)) + 1 + kListCost; }
static std::uint64_t list_result(Arena&, Arguments, const Val& result) { return listed(size(result)); }
static std::uint64_t flatten(Arena&, Arguments args, const Val&) {
  const double depth = args.size() == 2 ? static_cast<double>(args[1].integer) : 1.0;
  return listed(size(args[0]) * depth);
}
static std::uint64_t compare_all(Arena& arena, const Val& list) {
  const double count = size(list);
  double factor = 2.0;
  if (list.is(ValKind::kList) && list_size(list) != 0) {
    const Val first = list_at(arena, list, 0);
    if (first.is(ValKind::kString) || first.is(ValKind::kBytes)) factor += kTextFactor;
  }
  return listed(count * count * factor);
}
static std::uint64_t compare_first(Arena& arena, Arguments args, const Val&) { return compare_all(arena, args[0]); }
static std::uint64_t compare_keys(Arena& arena, Arguments args, const Val&) { return compare_all(arena, args[1]); }

static std::uint64_t sets(Arena&, Arguments args, const Val&) { return 1 + static_cast<std::uint64_t>(size(args[0]) * size(args[1])); }
static std::uint64_t sets_twice(Arena&, Arguments args, const Val&) {
  return 1 + static_cast<std::uint64_t>(size(args[0]) * size(args[1]) * 2);
}

}  // namespace charges

namespace {

using namespace charges;

struct Row {
  std::string_view name;
  CostFunction cost;
};

// These are looked up first: costs by overload, for any function.
constexpr Row kTrackers[] = {
    {"list_sets_contains_list", sets}, {"list_sets_intersects_list", sets}, {"list_sets_equivalent_list", sets_twice},
    {"list_slice", list_result},       {"list_flatten", flatten},           {"list_flatten_int", flatten},
    {"lists_range", list_result},      {"list_reverse", list_result},       {"list_distinct", compare_first},
};

// These are looked up next: cel-go's costs by overload.
constexpr Row kOverloads[] = {
    {"starts_with_string", traverse_core},
    {"ends_with_string", traverse_core},
    {"string_to_bytes", traverse_core},
    {"bytes_to_string", traverse_core},
    {"strings_quote", traverse_core},
    {"string_format", traverse_core},
    {"in_list", search},
    {"less_string", shorter},
    {"greater_string", shorter},
    {"less_equals_string", shorter},
    {"greater_equals_string", shorter},
    {"less_bytes", shorter},
    {"greater_bytes", shorter},
    {"less_equals_bytes", shorter},
    {"greater_equals_bytes", shorter},
    {"equals", shorter},
    {"not_equals", shorter},
    {"add_string", joined},
    {"add_bytes", joined},
    {"matches_string", pattern},
    {"contains_string", substring},
};

template <std::size_t kSize>
CostFunction find_in(const Row (&rows)[kSize], std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.cost;
  }
  return nullptr;
}

// Costs of one function that depend on the overload.
CostFunction address_cost(std::string_view function, std::string_view overload) {
  if (function == "ip") return overload == "cidr_ip" ? one : traverse;
  if (function == "containsIP") return overload == "cidr_contains_ip_string" ? contains_ip_text : contains_ip;
  if (function == "containsCIDR") return overload == "cidr_contains_cidr_string" ? contains_cidr_text : contains_cidr;
  return nullptr;
}

}  // namespace

CostFunction cost_of(std::string_view function, std::string_view overload) {
  if (overload.starts_with("list_")) {
    if (overload.ends_with("_sort")) return compare_first;
    if (overload.ends_with("_sortByAssociatedKeys")) return compare_keys;
  }
  if (const CostFunction found = find_in(kTrackers, overload)) return found;
  const FunctionCost* own = find_function_cost(function);
  if (own != nullptr && own->charge != nullptr) return own->charge;
  if (const CostFunction found = address_cost(function, overload)) return found;
  return find_in(kOverloads, overload);
}

}  // namespace backplane::cel_detail

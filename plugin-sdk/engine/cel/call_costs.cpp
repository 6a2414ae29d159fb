#include "cel/function_costs.hpp"

#include <algorithm>

namespace backplane::cel_detail {
namespace estimates {

Estimate one(const CostedCall&) { return CallEstimate{Range::fixed(1)}; }

// The cost of a call of the authorizer: two such calls reach a rule's cost limit.
Estimate check(const CostedCall&) { return CallEstimate{Range::fixed(350'000)}; }

Estimate selector(const CostedCall& call) {
  if (call.arguments.size() != 1) return std::nullopt;
  const Range size = call.arguments[0].size_or_unknown();
  constexpr double kPerRequirement = kListCost + kMessageCost;
  return CallEstimate{Range::fixed(kListCost) + size.times(kTextFactor) + size.times(0.5).times(kPerRequirement)};
}

// All items are read, and all characters of texts among them.
Estimate over_list(const CostedCall& call) {
  if (call.target == nullptr) return std::nullopt;
  const Range size = call.target->size_or_unknown();
  if (call.target->type->parameters.empty()) return CallEstimate{size.times(kTextFactor)};
  const TypeKind kind = call.target->type->parameters[0]->kind;
  Range each = Range::fixed(1);
  if (kind == TypeKind::kString || kind == TypeKind::kBytes) {
    each = each + call.target->items_size.value_or(Range::unknown()).times(kTextFactor);
  }
  return CallEstimate{size * each};
}

static Estimate same_size(const CostNode& of) {
  const Range size = of.size_or_unknown();
  return CallEstimate{size.times(kTextFactor), size};
}
Estimate walked_argument(const CostedCall& call) { return call.arguments.size() == 1 ? same_size(call.arguments[0]) : std::nullopt; }
Estimate walked_target(const CostedCall& call) { return call.target != nullptr ? same_size(*call.target) : std::nullopt; }

static std::uint64_t count_up(std::uint64_t size, std::uint64_t part) {
  return static_cast<std::uint64_t>(
      std::min(std::ceil(static_cast<double>(size) / static_cast<double>(part)), 9223372036854775808.0 * 2 - 2048));
}

// The size of a text after replacements: the number of replacements, and the size of the rest.
static Range replaced_size(const Range& size, const Range& what, const Range& with) {
  Range count, kept;
  if (what.min == 0) {
    count.max = bounded_sum(size.max, 1);
    kept.max = size.max;
  } else if (with.max <= what.min) {
    kept.max = size.max;
  } else {
    count.max = count_up(size.max, what.min);
  }
  if (what.max == 0) {
    count.min = bounded_sum(size.min, 1);
    kept.min = size.min;
  } else if (what.max <= with.min) {
    kept.min = size.min;
  } else {
    count.min = count_up(size.min, what.max);
  }
  return count * with + kept;
}

Estimate replace(const CostedCall& call) {
  if (call.target == nullptr || call.arguments.size() < 2) return std::nullopt;
  const Range size = call.target->size_or_unknown();
  return CallEstimate{size.times(2 * kTextFactor),
                      replaced_size(size, call.arguments[0].size_or_unknown(), call.arguments[1].size_or_unknown())};
}

Estimate split(const CostedCall& call) {
  if (call.target == nullptr) return std::nullopt;
  const Range size = call.target->size_or_unknown();
  std::uint64_t most = size.max;
  if (call.arguments.size() > 1) {
    const Expr& limit = *call.arguments[1].expr;
    if (limit.kind == ExprKind::kLiteral && limit.literal.kind == LiteralKind::kInt)
      most = static_cast<std::uint64_t>(limit.literal.integer);
  }
  return CallEstimate{size.times(2 * kTextFactor), Range{0, most}};
}

Estimate join(const CostedCall& call) {
  if (call.target == nullptr) return std::nullopt;
  const Range count = call.target->size_or_unknown();
  Range size;
  if (!call.target->type->parameters.empty()) size = count * call.target->items_size.value_or(Range::unknown());
  if (!call.arguments.empty()) {
    const Range between{count.min > 0 ? count.min - 1 : 0, count.max > 0 ? count.max - 1 : 0};
    size = size + call.arguments[0].size_or_unknown() * between;
  }
  return CallEstimate{size.times(kTextFactor), size};
}

Estimate find(const CostedCall& call) {
  if (call.target == nullptr || call.arguments.empty()) return std::nullopt;
  const Range size = call.target->size_or_unknown();
  const Range text = (size + Range::fixed(1)).times(kTextFactor), pattern = call.arguments[0].size_or_unknown().times(kPatternFactor);
  return CallEstimate{text * pattern, Range{0, size.max}};
}

Estimate read_once(const CostedCall& call) {
  if (call.arguments.empty()) return std::nullopt;
  return CallEstimate{call.arguments[0].size_or_unknown().times(kTextFactor)};
}
Estimate read_twice(const CostedCall& call) {
  if (call.arguments.empty()) return std::nullopt;
  return CallEstimate{call.arguments[0].size_or_unknown().times(2 * kTextFactor)};
}
Estimate ip(const CostedCall& call) { return call.overload == "cidr_ip" ? one(call) : read_once(call); }

// The cost of comparing addresses of 4 or 16 bytes; texts are parsed first.
static Estimate contains_address(const CostedCall& call, bool network) {
  if (call.arguments.empty()) return std::nullopt;
  const Range bytes{4, 16};
  Range cost = (bytes + bytes).times(kTextFactor);
  if (network) cost = cost + bytes.times(kTextFactor) + Range::fixed(1);
  if (call.overload.ends_with("_string")) cost = cost + call.arguments[0].size_or_unknown().times(kTextFactor);
  return CallEstimate{cost};
}
Estimate contains_ip(const CostedCall& call) { return contains_address(call, false); }
Estimate contains_cidr(const CostedCall& call) { return contains_address(call, true); }

Estimate validate(const CostedCall& call) {
  constexpr double kLongestPattern = 128;
  if (call.arguments.empty()) return std::nullopt;
  return CallEstimate{call.arguments[0].size_or_unknown().times(kTextFactor).times(kLongestPattern * kPatternFactor)};
}

// The cost of comparing two values of a library's type.
Estimate equals(const CostedCall& call) {
  if (call.arguments.size() != 2) return std::nullopt;
  const Type &a = *call.arguments[0].type, &b = *call.arguments[1].type;
  if (a.kind != b.kind || a.name != b.name) return std::nullopt;
  constexpr double kLongestFormat = 64;
  constexpr std::string_view kPlain[] = {"kubernetes.Quantity",
                                         "kubernetes.Semver",
                                         "kubernetes.authorization.Authorizer",
                                         "kubernetes.authorization.PathCheck",
                                         "kubernetes.authorization.GroupCheck",
                                         "kubernetes.authorization.ResourceCheck",
                                         "kubernetes.authorization.Decision"};
  if (a.kind == TypeKind::kOpaque && (a.name == "net.IP" || a.name == "net.CIDR")) return one(call);
  if (a.kind != TypeKind::kStruct) return std::nullopt;
  if (std::find(std::begin(kPlain), std::end(kPlain), a.name) != std::end(kPlain)) return one(call);
  if (a.name == "kubernetes.NamedFormat") return CallEstimate{Range{1, static_cast<std::uint64_t>(kLongestFormat)}.times(kTextFactor)};
  if (a.name != "kubernetes.URL") return std::nullopt;
  return CallEstimate{Range{1, call.arguments[1].size ? call.arguments[1].size->max : 1}.times(kTextFactor)};
}

}  // namespace estimates
}  // namespace backplane::cel_detail

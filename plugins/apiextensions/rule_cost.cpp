#include "rule_cost.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostReported = 4;

bool has_own_rules(const Object& schema) {
  const Array* rules = get_array(schema, "x-kubernetes-validations");
  return rules != nullptr && !rules->empty();
}

// The maximum number of parts of a value of this schema; nullopt: unbounded.
std::optional<std::uint64_t> most_inside(const Object& schema) {
  const std::string_view type = get_string(schema, "type");
  const Value* values = find(schema, "additionalProperties");
  const bool map = type == "object" && values != nullptr && !values->is_null();
  if (type != "array" && !map) return 1;
  const auto most = get_int(schema, map ? "maxProperties" : "maxItems");
  if (!most) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *most));
}

}  // namespace

std::uint64_t times_without_overflow(std::uint64_t cost, std::uint64_t count) noexcept {
  if (cost == 0) return 0;
  return kMost / cost < count ? kMost : cost * count;
}

std::string cost_problem(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  char text[64];
  if (factor > 100)
    std::snprintf(text, sizeof(text), "more than 100x");
  else
    std::snprintf(text, sizeof(text), factor < 1.5 ? "%fx" : "%.1fx", factor);
  return std::string(what) + " exceeds budget by factor of " + text +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
}

void TotalCost::add(const std::string& path, std::uint64_t cost) {
  total_ = kMost - total_ < cost ? kMost : total_ + cost;
  if (cost < kCostOfDefinition / 100) return;
  const auto cheaper = [](const Item& a, const Item& b) { return a.cost > b.cost; };
  const Item item{path, cost};
  most_expensive_.insert(std::upper_bound(most_expensive_.begin(), most_expensive_.end(), item, cheaper), item);
  if (most_expensive_.size() > kMostReported) most_expensive_.pop_back();
}

void TotalCost::report(const std::string& schema_path, FieldErrors& errors) const {
  if (total_ <= kCostOfDefinition) return;
  for (const Item& item : most_expensive_)
    errors.forbidden(item.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema");
  errors.forbidden(schema_path, cost_problem("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", total_,
                                             kCostOfDefinition));
}

RuleScope::RuleScope(const Object& schema, TotalCost& total) : schema_(&schema), total_(&total), has_rules_(has_own_rules(schema)) {}

RuleScope RuleScope::inner(const Object& schema, Step step, std::string_view name) const {
  RuleScope out;
  out.above_ = this;
  out.schema_ = &schema;
  out.total_ = total_;
  out.step_ = step;
  out.name_ = name;
  out.has_rules_ = has_rules_ || has_own_rules(schema);
  const auto most = most_inside(*schema_);
  out.value_count_ = value_count_ && most ? std::optional(times_without_overflow(*value_count_, *most)) : std::nullopt;
  return out;
}

cel::TypeRef RuleScope::type() const {
  if (!has_rules_) return nullptr;
  if (!type_) type_ = find_type();
  return *type_;
}

// The type that the enclosing type declares for this part, or a separate type if the enclosing type declares none.
cel::TypeRef RuleScope::find_type() const {
  const cel::TypeRef around = above_ != nullptr ? above_->type() : nullptr;
  const cel::TypeRef known = around == nullptr          ? nullptr
                             : step_ == Step::kProperty ? cel::property_of(around, name_)
                                                        : cel::items_of(around);
  if (known != nullptr) return known;
  return cel::declare(*schema_, above_ == nullptr || get_bool(*schema_, "x-kubernetes-embedded-resource").value_or(false));
}

std::uint64_t RuleScope::cost_of(std::uint64_t once) const {
  if (value_count_) return times_without_overflow(once, *value_count_);
  const cel::TypeRef declared = type();
  return declared == nullptr ? once : times_without_overflow(once, cel::max_cardinality(*declared));
}

}  // namespace backplane::apiextensions

// Data for the validation of rules in a schema: the types of its parts, the number of times that a rule may run for one object, and the
// total cost of all rules (CELSchemaContext and TotalCost of k8s.io/apiextensions-apiserver).
//
// Thread-safety: one thread.
// Lifetime:      a scope borrows the one above it and the schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/cel.hpp"

namespace backplane::apiextensions {

inline constexpr std::uint64_t kCostOfRule = 10'000'000;
inline constexpr std::uint64_t kCostOfDefinition = 100'000'000;

std::uint64_t times_without_overflow(std::uint64_t cost, std::uint64_t count) noexcept;
// "estimated rule cost exceeds budget by factor of 2.0x (try …)".
std::string cost_problem(std::string_view what, std::uint64_t cost, std::uint64_t limit);

class TotalCost {
 public:
  void add(const std::string& path, std::uint64_t cost);
  // If the total cost is too high, reports the most expensive rules.
  void report(const std::string& schema_path, FieldErrors& errors) const;

 private:
  struct Item {
    std::string path;
    std::uint64_t cost;
  };
  std::uint64_t total_ = 0;
  std::vector<Item> most_expensive_;
};

// One part of the schema, with the maximum number of its values in one object.
class RuleScope {
 public:
  RuleScope(const Object& schema, TotalCost& total);

  enum class Step : unsigned char { kProperty, kItems, kValues };
  RuleScope inner(const Object& schema, Step step, std::string_view name = {}) const;

  // Null: the part has no type that expressions can use.
  cel::TypeRef type() const;
  // The cost for one object of a rule of this part; `once`: the cost for one value.
  std::uint64_t cost_of(std::uint64_t once) const;
  TotalCost& total() const noexcept { return *total_; }

 private:
  RuleScope() = default;
  cel::TypeRef find_type() const;

  const RuleScope* above_ = nullptr;
  const Object* schema_ = nullptr;
  TotalCost* total_ = nullptr;
  Step step_ = Step::kProperty;
  std::string_view name_;
  bool has_rules_ = false;                        // this part or an enclosing part has rules
  std::optional<std::uint64_t> value_count_ = 1;  // the number of values in one object; nullopt: unbounded
  mutable std::optional<cel::TypeRef> type_;
};

}  // namespace backplane::apiextensions

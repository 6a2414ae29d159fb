// Evaluates random expressions on random trees. Every evaluation must stay within its budget, and none may crash. The environment variable
// CEL_RUNS sets the number of expressions, CEL_SEED the random seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "cel/types.hpp"
#include "run_support.hpp"

namespace backplane {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {
    for (const cel_detail::Overload& overload : cel_detail::overloads()) {
      if (overload.function.find_first_of("_@") == std::string_view::npos) functions_.insert(std::string(overload.function));
    }
    names_.assign(functions_.begin(), functions_.end());
  }

  std::string expression(int depth) {
    if (depth <= 0) return leaf();
    switch (pick(16)) {
      case 0:
        return "(" + expression(depth - 1) + binary() + expression(depth - 1) + ")";
      case 1:
        return "[" + expression(depth - 1) + ", " + expression(depth - 1) + "]";
      case 2:
        return "{" + leaf() + ": " + expression(depth - 1) + "}";
      case 3:
        return "(" + expression(depth - 1) + " ? " + expression(depth - 1) + " : " + expression(depth - 1) + ")";
      case 4:
        return "dyn(" + expression(depth - 1) + ")[" + (pick(2) == 0 ? "?" : "") + "dyn(" + expression(depth - 1) + ")]";
      case 5:
        return "dyn(" + expression(depth - 1) + ")." + (pick(2) == 0 ? "?" : "") + field();
      case 6:
      case 7:
        return "dyn(" + expression(depth - 1) + ")." + macro() + "(x, " + expression(depth - 1) + ")";
      case 8:
        return "dyn(" + expression(depth - 1) + ").transform" + (pick(2) == 0 ? "List" : "Map") + "(x, y, " + expression(depth - 1) + ")";
      case 9:
        return "cel.bind(x, " + expression(depth - 1) + ", " + expression(depth - 1) + ")";
      case 10:
        return "has(dyn(" + expression(depth - 1) + ")." + field() + ")";
      case 11:
        return (pick(2) == 0 ? "!" : "-") + std::string("dyn(") + expression(depth - 1) + ")";
      default:
        return call(depth);
    }
  }

  Value tree(int depth) {
    switch (pick(depth <= 0 ? 5 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return pick(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_());
      case 3:
        return static_cast<double>(random_()) / 1000;
      case 4:
        return json::string(words()[pick(words().size())]);
      case 5:
      case 6: {
        Array out;
        for (std::size_t i = pick(4); i > 0; --i) out.push_back(tree(depth - 1));
        return out;
      }
      default: {
        Object out;
        for (std::size_t i = pick(4); i > 0; --i) out[field()] = tree(depth - 1);
        return out;
      }
    }
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  static const std::vector<std::string>& words() {
    static const std::vector<std::string> list = {
        "",      "a",    "caf\u00e9",     "10.0.0.1",      "10.0.0.0/8", "1.2.3", "1h",  "2023-01-01T00:00:00Z",
        "1.5Gi", "^a+$", "https://a/b?c", "%s %d %.3f %x", "::1",        "(",     "UTC", "dns1123Label"};
    return list;
  }
  std::string leaf() {
    static const std::vector<std::string> list = {"1",
                                                  "0",
                                                  "-1",
                                                  "9223372036854775807",
                                                  "2u",
                                                  "1.5",
                                                  "1e300",
                                                  "true",
                                                  "false",
                                                  "null",
                                                  "self",
                                                  "[]",
                                                  "{}",
                                                  "b'x'",
                                                  "int",
                                                  "self.a",
                                                  "self.b",
                                                  "duration('1h')",
                                                  "timestamp(1)",
                                                  "optional.none()"};
    if (pick(3) == 0) return "'" + words()[pick(words().size())] + "'";
    return list[pick(list.size())];
  }
  std::string field() { return std::string(1, static_cast<char>('a' + pick(4))); }
  std::string binary() {
    static const std::vector<std::string> list = {" + ", " - ", " * ", " / ", " % ", " == ", " != ", " < ", " >= ", " && ", " || ", " in "};
    return list[pick(list.size())];
  }
  std::string macro() {
    static const std::vector<std::string> list = {"all", "exists", "exists_one", "map", "filter", "sortBy"};
    return list[pick(list.size())];
  }
  std::string call(int depth) {
    const std::string& name = names_[pick(names_.size())];
    const bool member = name.find('.') == std::string::npos && pick(2) == 0;
    std::string out = member ? argument(depth) + "." + name + "(" : name + "(";
    for (std::size_t i = pick(3), first = i; i > 0; --i) out += (i == first ? "" : ", ") + argument(depth);
    return out + ")";
  }
  // A call accepts any argument: null, or a value of dynamic type.
  std::string argument(int depth) { return pick(8) == 0 ? "null" : "dyn(" + expression(depth - 1) + ")"; }

  std::mt19937_64 random_;
  std::set<std::string> functions_;
  std::vector<std::string> names_;
};

TEST(CelRandom, WhateverIsAskedEndsWithinTheBudget) {
  Generator generator(number_from("CEL_SEED", 1));
  cel::EnvironmentOptions options;
  options.extras = {.bindings = true, .json_patch = true, .math = true, .encoders = true, .everything = true};
  options.strict_literals = false;
  options.variables = {{"self", cel::named_type("dyn")}, {"x", cel::named_type("dyn")}, {"y", cel::named_type("dyn")}};
  const auto environment = cel::Environment::make(std::move(options));
  std::size_t compiled = 0, values = 0;
  for (std::uint64_t runs = number_from("CEL_RUNS", 1000); runs > 0; --runs) {
    const std::string expression = generator.expression(4);
    const Value tree = generator.tree(3);
    RecordProperty("expression", expression);  // if the process crashes, the report has the last expression
    const cel::Compiled program = environment->compile(expression);
    if (program.program == nullptr) continue;
    ++compiled;
    const cel::Binding bindings[] = {{"self", &tree}, {"x", &tree}, {"y", &tree}};
    cel::Budget budget;
    budget.per_call = 20'000;
    const cel::Outcome outcome = cel::run(*program.program, bindings, budget);
    values += outcome.end == cel::Outcome::End::kValue ? 1 : 0;
    ASSERT_EQ(budget.left, cel::kCostPerObject - std::min(outcome.cost, cel::kCostPerObject)) << expression;
  }
  EXPECT_GT(compiled, 25u);
  EXPECT_GT(values, 5u);
}

}  // namespace
}  // namespace backplane

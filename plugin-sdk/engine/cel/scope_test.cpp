#include "backplane/types/cel_scope.hpp"

#include <gtest/gtest.h>

#include "backplane/types/cel_policy.hpp"

namespace backplane::cel_detail {
namespace {

using cel::Budget;
using cel::Outcome;

// A policy's variables, compiled one after the other.
class Declared {
 public:
  explicit Declared(std::vector<std::pair<std::string, std::string>> expressions) {
    for (auto& [name, expression] : expressions) {
      const auto compiled = environment()->compile(expression);
      types_.emplace_back(name, cel::policy_variable(compiled.program.get()));
      variables.push_back({name, compiled.program, compiled.problems});
    }
  }
  std::shared_ptr<const cel::Environment> environment() const {
    return cel::policy_environment({.patches = true, .variables = &types_, .stored = true});
  }
  std::shared_ptr<const cel::Program> compile(std::string_view expression) const {
    auto compiled = environment()->compile(expression);
    EXPECT_NE(compiled.program, nullptr) << compiled.problems;
    return compiled.program;
  }

  std::vector<cel::ScopeVariable> variables;

 private:
  cel::PolicyVariables types_;
};

Value tree(std::string_view text) { return json::parse(text); }

std::string shown(const Outcome& outcome) { return outcome.end == Outcome::End::kValue ? to_json(outcome.value) : outcome.message; }

std::string run(const Declared& declared, std::string_view expression, std::string_view object) {
  const Value bound = tree(object);
  const std::vector<cel::ScopeBinding> bindings = {{.name = "object", .object = bound.if_object()}, {.name = "oldObject"}};
  cel::Scope scope(bindings, declared.variables);
  Budget budget;
  return shown(scope.run(*declared.compile(expression), budget));
}

TEST(Scopes, BindObjectsAndNull) {
  const Declared none({});
  EXPECT_EQ(run(none, "object.a + 1", R"({"a":1})"), "2");
  EXPECT_EQ(run(none, "oldObject == null && object != null", "{}"), "true");
  EXPECT_EQ(run(none, "object == null", "null"), "true");
  EXPECT_EQ(run(none, "object.missing", "{}"), "no such key: missing");
  EXPECT_EQ(run(none, "request.name == 'a'", "{}"), "no such attribute(s): request");
}

TEST(Scopes, EvaluateVariablesWhenTheyAreRead) {
  const Declared declared({{"a", "object.x * 2"}, {"b", "variables.a + 1"}, {"broken", "object.missing"}, {"wrong", "nothing"}});
  EXPECT_EQ(run(declared, "variables.b", R"({"x":4})"), "9");
  EXPECT_EQ(run(declared, "variables.a == 8 || variables.broken", R"({"x":4})"), "true");
  EXPECT_EQ(run(declared, "variables.broken", R"({"x":4})"), "composited variable \"broken\" fails to evaluate: no such key: missing");
  EXPECT_EQ(run(declared, "has(variables.a)", R"({"x":4})"), "true");
  EXPECT_TRUE(run(declared, "variables.wrong", "{}").starts_with("composited variable \"wrong\" fails to compile: ERROR: <input>:1:1: "));
}

TEST(Scopes, KeepValuesOfVariablesWithTheirTypes) {
  const Declared declared({{"d", "duration('90s')"}, {"q", "quantity('1Gi')"}, {"l", "object.l.map(x, x + 1)"}});
  EXPECT_EQ(
      run(declared, "variables.d > duration('1m') && variables.q.isGreaterThan(quantity('1Mi')) && variables.l[1] == 3", R"({"l":[1,2]})"),
      "true");
}

TEST(Scopes, ChargeAVariableOnce) {
  const Declared declared({std::pair<std::string, std::string>("a", "object.l.all(x, x > 0)")});
  const Value bound = tree(R"({"l":[1,2,3,4,5,6,7,8]})");
  const std::vector<cel::ScopeBinding> bindings = {{.name = "object", .object = bound.if_object()}};
  cel::Scope scope(bindings, declared.variables);
  Budget budget;
  const auto program = declared.compile("variables.a");
  const std::uint64_t first = scope.run(*program, budget).cost, second = scope.run(*program, budget).cost;
  EXPECT_GT(first, 20u);
  EXPECT_EQ(second, 2u);
  EXPECT_EQ(budget.left, cel::kCostPerObject - first - second);
  Budget small{.left = 10};
  cel::Scope again(bindings, declared.variables);
  EXPECT_EQ(again.run(*program, small).end, Outcome::End::kNoBudget);
}

TEST(Scopes, LimitEachVariableSeparately) {
  const Declared declared({std::pair<std::string, std::string>("a", "object.l.all(x, object.l.all(y, y > 0))")});
  const Value bound = tree(R"({"l":[1,2,3,4,5,6,7,8]})");
  const std::vector<cel::ScopeBinding> bindings = {{.name = "object", .object = bound.if_object()}};
  cel::Scope scope(bindings, declared.variables);
  Budget budget{.per_call = 50};
  EXPECT_EQ(shown(scope.run(*declared.compile("variables.a"), budget)),
            "composited variable \"a\" fails to evaluate: operation cancelled: actual cost limit exceeded");
}

std::string mutated(std::string_view expression, bool patch, std::string_view object = "{}") {
  const Declared none({});
  const Value bound = tree(object);
  const std::vector<cel::ScopeBinding> bindings = {{.name = "object", .object = bound.if_object()}};
  cel::Scope scope(bindings, {});
  Budget budget;
  const auto program = none.compile(expression);
  return shown(patch ? scope.run_patch(*program, budget) : scope.run_object(*program, budget));
}

TEST(Scopes, MakeObjects) {
  EXPECT_EQ(
      mutated("Object{spec: Object.spec{replicas: object.n + 1, ?no: optional.none(), l: [Object.spec.l{a: 'b'}]}}", false, R"({"n":2})"),
      R"({"spec":{"replicas":3,"l":[{"a":"b"}]}})");
  EXPECT_EQ(mutated("Object{metadata: Object.metadata{labels: {'a': 'b'}}}", false), R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(mutated("Object{spec: Object.spec{selector: Object.spec.wrong{}}}", false),
            "type mismatch: unexpected type name \"Object.spec.wrong\", expected \"Object.spec.selector\", which matches field name path "
            "from root Object type");
}

TEST(Scopes, MakePatches) {
  EXPECT_EQ(mutated("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]", true),
            R"([{"op":"add","path":"/metadata/labels/a~1b","value":"c"}])");
  EXPECT_EQ(mutated("[JSONPatch{op: 'move', from: '/a', path: '/b'}, JSONPatch{op: 'test', path: '/c', value: null}]", true),
            R"([{"op":"move","path":"/b","from":"/a"},{"op":"test","path":"/c","value":null}])");
  EXPECT_EQ(mutated("[JSONPatch{op: 'add', path: '/spec', value: Object.spec{a: Object.spec.a{b: [1, 2]}}}]", true),
            R"([{"op":"add","path":"/spec","value":{"a":{"b":[1,2]}}}])");
  EXPECT_EQ(mutated("[JSONPatch{op: 'add', path: '/x', value: 9007199254740993}]", true),
            R"([{"op":"add","path":"/x","value":"9007199254740993"}])");
  EXPECT_EQ(
      mutated("[JSONPatch{op: 'add', path: '/x', value: Object.a{b: Object.c{}}}]", true),
      "type mismatch: unexpected type name \"Object.c\", expected \"Object.a.b\", which matches field name path from root Object type");
}

TEST(Scopes, KnowWhatAnExpressionMayRead) {
  const Declared none({});
  const auto reads = [&](std::string_view expression) {
    return cel::may_read(*none.compile(expression), {"object", "oldObject"}, {"metadata", "managedFields"});
  };
  for (const char* yes : {"object.metadata.managedFields.size() == 0", "object == oldObject", "has(object.metadata.managedFields)",
                          "object.metadata == null", "oldObject['metadata']['managedFields'] == []", "[object].exists(o, o.a == 1)",
                          "object.?metadata.?managedFields.hasValue()", "object.metadata.managedFields[0].manager == 'a'"}) {
    EXPECT_TRUE(reads(yes)) << yes;
  }
  for (const char* no : {"object.metadata.name == 'a'", "object.spec.a.all(x, x > object.spec.b)", "has(object.metadata.labels)",
                         "object['spec'].x == oldObject.spec.x", "request.name == ''", "object.kind == 'Pod' && true"}) {
    EXPECT_FALSE(reads(no)) << no;
  }
}

}  // namespace
}  // namespace backplane::cel_detail

// Values, errors, costs and budgets of evaluations.  The expected results are those of cel-go with Kubernetes' environment.
#include <gtest/gtest.h>

#include <thread>

#include "backplane/types/cel_authorizer.hpp"
#include "run_support.hpp"

namespace backplane {
namespace {

struct Case {
  std::string_view expression, wanted;
  std::string_view self = "null";
};
void expect_all(std::initializer_list<Case> cases) {
  for (const Case& each : cases) EXPECT_EQ(answer(each.expression, each.self), each.wanted) << each.expression;
}

TEST(CelRun, ArithmeticEndsInAnErrorAndNotInAnotherNumber) {
  expect_all({
      {"9223372036854775807 + 1", "error: integer overflow"},
      {"0u - 1u", "error: unsigned integer overflow"},
      {"-9223372036854775808 / -1", "error: integer overflow"},
      {"1 / 0", "error: division by zero"},
      {"1 % 0", "error: modulus by zero"},
      {"-(-9223372036854775807 - 1)", "error: integer overflow"},
      {"1.0 / 0.0 > 1.0", "true"},
      {"duration('1h') + duration('30m') == duration('90m')", "true"},
      {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
      {"int(1e30)", "problem: program instantiation failed: integer overflow"},
  });
}

TEST(CelRun, NumbersOfSeveralTypesAreComparedByTheirValue) {
  expect_all({
      {"dyn(1) == 1.0 && dyn(1u) == 1 && 2 > 1.5 && dyn(1) in [1.0]", "true"},
      {"9223372036854775807 < 9223372036854775808u", "true"},
      {"-1 < 0u", "true"},
      {"{1: 'a'}[dyn(1.0)]", "\"a\""},
      {"double('NaN') == double('NaN')", "false"},
  });
}

TEST(CelRun, LogicalOperatorsIgnoreErrorsThatDoNotAffectTheResult) {
  expect_all({
      {"self.a.b == 1 || true", "true", R"({})"},
      {"true || self.a.b == 1", "true", R"({})"},
      {"self.a.b == 1 && false", "false", R"({})"},
      {"self.a.b == 1 && true", "error: no such key: a", R"({})"},
      {"[1, 0].exists(x, 4 / x == 4)", "true"},
      {"[0, 1].exists(x, 4 / x == 4)", "true"},
      {"[0, 2].exists(x, 4 / x == 4)", "error: division by zero"},
  });
}

TEST(CelRun, ErrorsNameAbsentKeysAndIndexes) {
  expect_all({
      {"self.a", "error: no such key: a", "{}"},
      {"self.list[3]", "error: index out of bounds: 3", R"({"list": [1]})"},
      {"self['a b']", "error: no such key: a b", "{}"},
      {"has(self.a.b)", "error: no such key: a", "{}"},
      {"has(self.a) && has(self.a.b)", "false", "{}"},
      {"self.?a.?b.orValue('none')", "\"none\"", "{}"},
      {"self.?a.b.hasValue()", "true", R"({"a": {"b": null}})"},
      {"optional.none().value()", "error: optional.none() dereference"},
      {"self.text.a", "error: no such key: a", R"({"text": "x"})"},
      {"self + 1", "error: no such overload: _+_", "true"},
      {"self + 1", "error: no such overload", R"("x")"},
  });
}

TEST(CelRun, TextsAreCodePoints) {
  expect_all({
      {"size('caf\u00e9')", "4"},
      {"'caf\u00e9'.charAt(3)", "\"\u00e9\""},
      {"'caf\u00e9 caf\u00e9'.indexOf('caf', 1)", "5"},
      {"'\u00e9\u00e9'.lastIndexOf('\u00e9')", "1"},
      {"'caf\u00e9'.substring(3, 4)", "\"\u00e9\""},
      {"'abc'.substring(4)", "error: index out of range: 4"},
      {"'a,b,c'.split(',', 2)", R"(["a","b,c"])"},
      {"'ab'.replace('', '-')", "\"-a-b-\""},
      {"'  x\\u00a0'.trim()", "\"x\""},
      {"'%d %s %.2f %x'.format([1, ['a', 2.5], 1234.5, 255])", R"("1 [\"a\", 2.500000] 1,234.50 ff")"},
      {"'%d'.format(['a'])",
       "problem: ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was "
       "given string\n | '%d'.format(['a'])\n | .............^"},
      {"'%d'.format([self])", "error: error during formatting: decimal clause can only be used on integers, was given null_type"},
      {"strings.quote('a\"b\\n')", R"("\"a\\\"b\\n\"")"},
  });
}

TEST(CelRun, TimesHaveZones) {
  expect_all({
      {"timestamp('2023-07-01T12:00:00Z').getHours('Europe/Berlin')", "14"},
      {"timestamp('2023-01-01T12:00:00Z').getHours('Europe/Berlin')", "13"},
      {"timestamp('2060-07-01T12:00:00Z').getHours('America/New_York')", "8"},
      {"timestamp('2023-01-01T00:30:00Z').getDayOfYear('-02:00')", "364"},
      {"timestamp('2024-12-31T23:59:59.5Z').getDayOfYear()", "365"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('Mars/Olympus')", "error: unknown time zone Mars/Olympus"},
      {"string(timestamp('2023-01-01T01:02:03.120+01:00'))", "\"2023-01-01T01:02:03.12+01:00\""},
      {"string(duration('1h1m1.5s'))", "\"3661.5s\""},
      {"timestamp('2023-01-01T00:00:01Z') - timestamp('2023-01-01T00:00:00Z') == duration('1s')", "true"},
  });
}

TEST(CelRun, MacrosCollect) {
  expect_all({
      {"[1, 2, 3].map(x, x > 1, x * 2)", "[4,6]"},
      {"{'a': 1, 'b': 2}.map(k, k).sort()", R"(["a","b"])"},
      {"[1, 2].transformMap(i, v, v * 10)", R"({"0":10,"1":20})"},
      {"{'a': 1}.transformMapEntry(k, v, {k + k: v})", R"({"aa":1})"},
      {"[1, 1].transformMapEntry(i, v, {v: i})", "error: insert failed: key 1 already exists"},
      {"[3, 1, 2].sortBy(x, -x)", "[3,2,1]"},
      {"[[[1], [2]], [[3]]].flatten(2)", "[1,2,3]"},
      {"[1, 2, 2, 1.0].distinct()",
       "problem: ERROR: <input>:1:11: expected type 'int' but found 'double'\n | [1, 2, 2, 1.0].distinct()\n"
       " | ..........^"},
      {"cel.bind(x, [1, 2], x + x)", "[1,2,1,2]"},
      {"optional.of(2).optMap(x, x * 2).value()", "4"},
      {"lists.range(4).filter(x, x % 2 == 1)", "[1,3]"},
      {"[1, 2, 3].slice(1, 4)", "error: cannot slice(1, 4), list is length 3"},
  });
}

TEST(CelRun, KubernetesHasItsOwnFunctions) {
  expect_all({
      {"quantity('1.5Gi').isGreaterThan(quantity('1500M'))", "true"},
      {"quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')", "true"},
      {"quantity('1000m').isInteger()", "false"},
      {"quantity('1Ki').asInteger()", "1024"},
      {"quantity('200M').compareTo(quantity('0.2G'))", "0"},
      {"quantity('1xyz')", "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"ip('2001:DB8::0:1') == ip('2001:db8::1')", "true"},
      {"ip.isCanonical('2001:DB8::1')", "false"},
      {"isIP('::ffff:1.2.3.4')", "false"},
      {"cidr('192.168.0.0/24').containsIP('192.168.0.7')", "true"},
      {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
      {"string(cidr('192.168.1.5/24').masked())", "\"192.168.1.0/24\""},
      {"url('https://example.com:80/a b?k=1&k=2#f').getEscapedPath()", "\"/a%20b\""},
      {"url('https://[::1]:80/').getHostname()", "\"::1\""},
      {"isURL('../rel')", "false"},
      {"semver('1.2.3-alpha.1').isLessThan(semver('1.2.3-alpha.beta'))", "true"},
      {"semver('v01.1', true).patch()", "0"},
      {"isSemver('1.2')", "false"},
      {"format.dns1123Label().validate('a b').hasValue()", "true"},
      {"format.named('uuid').value().validate('123e4567-e89b-12d3-a456-426614174000')", "null"},
      {"format.named('none').hasValue()", "false"},
      {"'abc 123'.find('[0-9]+')", "\"123\""},
      {"'1 a 22'.findAll('[0-9]*')", R"(["1","","","22"])"},
      {"'abc'.matches('^a.c$')", "true"},
      {"'abc'.matches(self)", "error: error parsing regexp: missing closing ): `(`", R"("(")"},
      {"jsonpatch.escapeKey('a/b~c')", "\"a~1b~0c\""},
      {"[1, 3, 2].isSorted()", "false"},
      {"[duration('1m'), duration('1s')].sum() == duration('61s')", "true"},
      {"[].min()", "error: min called on empty list"},
  });
}

// Null is assignable to a library's type, but is not a value of it at run time.
TEST(CelRun, LibraryFunctionsHaveNoOverloadForNull) {
  EXPECT_EQ(answer("null.isLoopback()"), "error: no such overload: isLoopback(null_type)");
  EXPECT_EQ(answer("null.sub(quantity('1'))"), "error: no such overload: sub(null_type, kubernetes.Quantity)");
  EXPECT_EQ(answer("quantity('1').add(null)"), "error: no such overload: add(kubernetes.Quantity, null_type)");
  EXPECT_EQ(answer("null.containsIP('10.0.0.1')"), "error: no such overload: containsIP(null_type, string)");
  EXPECT_EQ(answer("format.dns1123Label().validate(null)").substr(0, 8), "problem:");
  EXPECT_EQ(answer("null.validate('a')"), "error: no such overload: validate(null_type, string)");
  EXPECT_EQ(answer("null.hasValue()"), "error: no such overload: hasValue(null_type)");
  EXPECT_EQ(answer("null.getHours()"), "error: no such overload: getHours(null_type)");
  EXPECT_EQ(answer("duration(100)"), "problem: ERROR: <input>:1:10: invalid duration argument\n | duration(100)\n | .........^");
  EXPECT_EQ(answer("self[b'a']", "{}"), "problem: program instantiation failed: invalid qualifier type: types.Bytes");
  EXPECT_EQ(answer("self[?null]", "{}"), "problem: program instantiation failed: invalid qualifier type: types.Null");
  EXPECT_EQ(answer("duration(null)"), "problem: ERROR: <input>:1:10: invalid duration argument\n | duration(null)\n | .........^");
}

// The error of a call with a precompiled pattern names no type; other errors name the type of the receiver, or the types of all arguments.
TEST(CelRun, ErrorsHaveTheTextOfTheRefusingStep) {
  EXPECT_EQ(answer("dyn(1).matches('a')"), "error: no such overload");
  EXPECT_EQ(answer("dyn(1).matches(self)", "\"a\""), "error: no such overload: matches");
  EXPECT_EQ(answer("'a'.matches(self)", "1"), "error: no such overload");
  EXPECT_EQ(answer("dyn(1).find('a')"), "error: no such overload");
  EXPECT_EQ(answer("dyn(1).find(self)", "\"a\""), "error: no such overload: find(int, string)");
}

TEST(CelRun, CostsAreCelGosWithKubernetessFigures) {
  EXPECT_EQ(cost_of_run("1 + 2 == 3"), 2u);
  EXPECT_EQ(cost_of_run("[1, 2, 3].map(x, x * 2).filter(x, x > 2)"), 76u);
  EXPECT_EQ(cost_of_run("has(self.a.b) || self.a.c > 1", R"({"a": {"c": 3}})"), 6u);
  EXPECT_EQ(cost_of_run("self.a.b", R"({"a": {}})"), 3u);
  EXPECT_EQ(cost_of_run("self.?a.?b.orValue('x')", "{}"), 1u);
  EXPECT_EQ(cost_of_run("'a' in ['a', 'b']"), 0u);
  EXPECT_EQ(cost_of_run("self in [1, 2]", "1"), 1u);
  EXPECT_EQ(cost_of_run("[3, 1, 2].sort()"), 29u);
  EXPECT_EQ(cost_of_run("quantity('1.5Gi').add(quantity('500m')).compareTo(quantity('1Gi'))"), 5u);
  EXPECT_EQ(cost_of_run("self.matches('^a{1,9}$')", R"("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")"), 9u);
}

std::shared_ptr<const cel::Program> program_of(std::string_view expression) {
  cel::EnvironmentOptions options;
  options.variables.push_back({"self", cel::named_type("dyn")});
  return cel::Environment::make(std::move(options))->compile(expression).program;
}

TEST(CelRun, TheBudgetEndsARun) {
  const Value list = json::parse("[" + [] {
    std::string items = "1";
    for (int i = 0; i < 999; ++i) items += ",1";
    return items;
  }() + "]");
  const auto program = program_of("self.all(a, self.all(b, self.all(c, a == b && b == c)))");
  ASSERT_NE(program, nullptr);
  const cel::Binding binding{"self", &list};
  cel::Budget budget;
  cel::Outcome outcome = cel::run(*program, {&binding, 1}, budget);
  EXPECT_EQ(outcome.end, cel::Outcome::End::kCallLimit);
  EXPECT_EQ(outcome.message, "operation cancelled: actual cost limit exceeded");
  EXPECT_GT(outcome.cost, cel::kCostPerCall);
  EXPECT_LT(outcome.cost, cel::kCostPerCall + 100);
  EXPECT_EQ(budget.left, cel::kCostPerObject - outcome.cost);

  budget.left = 10;
  outcome = cel::run(*program_of("self.size() == 1000 && self.size() == 1000 && self[1] + self[2] + self[3] > 1"), {&binding, 1}, budget);
  EXPECT_EQ(outcome.end, cel::Outcome::End::kNoBudget);
  EXPECT_EQ(budget.left, 0u);
}

TEST(CelRun, ACancelledRunEnds) {
  const Value list = json::parse("[" + [] {
    std::string items = "1";
    for (int i = 0; i < 499; ++i) items += ",1";
    return items;
  }() + "]");
  const cel::Binding binding{"self", &list};
  cel::Budget budget;
  budget.cancelled = [] { return true; };
  EXPECT_EQ(cel::run(*program_of("self.all(a, a == 1)"), {&binding, 1}, budget).end, cel::Outcome::End::kCancelled);
}

TEST(CelRun, AnExpressionCannotTakeAllMemory) {
  std::string expression = "'%s%s%s%s%s%s%s%s%s%s'.format([x, x, x, x, x, x, x, x, x, x])";
  std::string nested = "'0123456789'";
  for (int i = 0; i < 9; ++i) nested = "cel.bind(x, " + nested + ", " + expression + ")";
  EXPECT_EQ(answer(nested + ".size()"), "error: operation cancelled: actual cost limit exceeded");
}

TEST(CelRun, OneProgramRunsInManyThreads) {
  const auto program = program_of("self.items.filter(x, x > 2).map(x, string(x)).join(',') == '3,4'");
  ASSERT_NE(program, nullptr);
  const Value tree = json::parse(R"({"items": [1, 2, 3, 4]})");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const cel::Binding binding{"self", &tree};
      for (int run = 0; run < 500; ++run) {
        cel::Budget budget;
        const cel::Outcome outcome = cel::run(*program, {&binding, 1}, budget);
        if (outcome.end != cel::Outcome::End::kValue || !outcome.value.as_bool()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

class Gate final : public cel::Authorizer {
 public:
  cel::AccessAnswer check(const cel::AccessQuestion& question) const override {
    if (question.account == "bot") return {question.account_namespace == "robots", "a robot", {}};
    if (question.verb == "break") return {false, {}, "the gate is broken"};
    if (!question.resource_request) return {question.path == "/healthz", "a path", {}};
    return {question.group == "apps" && question.resource == "deployments" && question.subresource == "scale" &&
                question.namespace_name == "ns" && question.name == "web" && question.verb == "update",
            "by name",
            {}};
  }
};

std::string asked(std::string_view expression) {
  cel::EnvironmentOptions options;
  options.variables.push_back({"authorizer", cel::named_type("kubernetes.authorization.Authorizer")});
  options.variables.push_back({"authorizer.requestResource", cel::named_type("kubernetes.authorization.ResourceCheck")});
  const cel::Compiled compiled = cel::Environment::make(std::move(options))->compile(expression);
  if (compiled.program == nullptr) return compiled.problems;
  const auto gate = std::make_shared<const Gate>();
  const cel::Binding bindings[] = {{"authorizer", nullptr, gate},
                                   {"authorizer.requestResource", nullptr,
                                    std::make_shared<const cel::RequestResource>(gate, "apps", "deployments", "scale", "ns", "web")}};
  cel::Budget budget;
  const cel::Outcome outcome = cel::run(*compiled.program, bindings, budget);
  return outcome.end == cel::Outcome::End::kValue ? to_json(outcome.value) : outcome.message;
}

TEST(CelRun, TheAuthorizerIsAskedAtOnce) {
  EXPECT_EQ(
      asked("authorizer.group('apps').resource('deployments').subresource('scale').namespace('ns').name('web').check('update').allowed()"),
      "true");
  EXPECT_EQ(asked("authorizer.requestResource.check('update').allowed()"), "true");
  EXPECT_EQ(asked("authorizer.requestResource.check('get').allowed()"), "false");
  EXPECT_EQ(asked("authorizer.path('/healthz').check('get').reason()"), "\"a path\"");
  EXPECT_EQ(asked("authorizer.path(' ').check('get').allowed()"), "path must not be empty");
  EXPECT_EQ(asked("authorizer.serviceAccount('robots', 'bot').path('/x').check('get').allowed()"), "true");
  EXPECT_EQ(asked("authorizer.serviceAccount('Robots', 'bot').path('/x').check('get').allowed()"), "Invalid service account namespace");
  EXPECT_EQ(asked("authorizer.path('/x').check('break').errored()"), "true");
  EXPECT_EQ(asked("authorizer.path('/x').check('break').error()"), "\"the gate is broken\"");
}

}  // namespace
}  // namespace backplane

#include "backplane/types/cel_policy.hpp"

#include <gtest/gtest.h>

#include <random>

#include "cel/tokens.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kOperands =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

std::string problems_among(const cel::PolicyNames& names, std::string_view text) {
  return cel::policy_environment(names)->compile(text).problems;
}
std::string problems(std::string_view text) {
  static const auto kEnvironment = cel::policy_environment({});
  return kEnvironment->compile(text).problems;
}

TEST(Expressions, ValidOnesOfEveryKindAreAccepted) {
  for (const std::string_view good : {
           "true",
           "object.metadata.name != 'x' && oldObject == null",
           "object.spec.replicas <= 5 ? 'few' : \"many\"",
           "-1 + 2 * 0x1F - 7 % -3 < 4u && .5e3 / 1e-2 > 3",
           "!has(object.metadata.labels) || object.metadata.labels.all(k, v, k.startsWith('a') && v != '')",
           "object.spec.containers.map(c, c.image.startsWith('r/'), c.name).exists(n, n == request.name)",
           "[1, 2, ?optional.of(3),][0] in [1]",
           "{'a': [false], 'b': [true, false],}['a'] == []",
           "google.protobuf.Duration{seconds: 5} > duration('2s')",
           "type(object) == map && type(1) == int",
           "sets.contains([1], [1]) && quantity('1Mi').isGreaterThan(quantity('1k'))",
           "authorizer.group('').resource('pods').check('get').allowed()",
           "r'\\d+' + 'b' == R\"\"\"a\nb\"\"\" && b'\\x00' != b'' // and a comment",
           "optional.of(1).optMap(v, v + 1).hasValue()",
           "object.m.transformMap(k, v, v + 1) == {}",
           "  \n\tobject\n.x",
       }) {
    EXPECT_EQ(problems(good), "") << good;
  }
}

TEST(Expressions, TokensAfterTheEndAreErrors) {
  EXPECT_EQ(problems("Bad Value!"), "ERROR: <input>:1:5: Syntax error: mismatched input 'Value' expecting <EOF>\n | Bad Value!\n | ....^");
  EXPECT_EQ(problems("TestAllTypes(){}"),
            "ERROR: <input>:1:15: Syntax error: mismatched input '{' expecting <EOF>\n | TestAllTypes(){}\n | ..............^");
  EXPECT_TRUE(problems("").starts_with("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', "));
  EXPECT_EQ(problems("").find('\n'), std::string::npos);
  EXPECT_EQ(problems("a b"), "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^");
}

TEST(Expressions, ParsingContinuesAfterAnExtraneousToken) {
  EXPECT_EQ(problems("*@a | b"), "ERROR: <input>:1:1: Syntax error: extraneous input '*' expecting " + std::string(kOperands) +
                                     "\n | *@a | b\n | ^\n"
                                     "ERROR: <input>:1:2: Syntax error: token recognition error at: '@'\n | *@a | b\n | .^\n"
                                     "ERROR: <input>:1:5: Syntax error: token recognition error at: '| '\n | *@a | b\n | ....^\n"
                                     "ERROR: <input>:1:7: Syntax error: extraneous input 'b' expecting <EOF>\n | *@a | b\n | ......^");
  EXPECT_EQ(problems("[1,2,3!,4]"),
            "ERROR: <input>:1:7: Syntax error: extraneous input '!' expecting {']', ','}\n | [1,2,3!,4]\n | ......^");
  EXPECT_EQ(problems("{'a' 1}"), "ERROR: <input>:1:6: Syntax error: missing ':' at '1'\n | {'a' 1}\n | .....^");
  EXPECT_EQ(problems("M{a: 1"), "ERROR: <input>:1:7: Syntax error: mismatched input '<EOF>' expecting {'}', ','}\n | M{a: 1\n | ......^");
  EXPECT_EQ(problems("has(object.a,)"), "ERROR: <input>:1:14: Syntax error: mismatched input ')' expecting " + std::string(kOperands) +
                                            "\n | has(object.a,)\n | .............^");
}

// Position and text of every problem, without the lines below.
std::string summary_of(std::string_view text) {
  std::string out;
  const std::string all = problems(text);
  for (std::size_t at = all.find("ERROR: <input>:"); at != std::string::npos; at = all.find("ERROR: <input>:", at + 1)) {
    out += all.substr(at + 15, all.find('\n', at) - at - 15) + "\n";
  }
  return out;
}

TEST(Expressions, ParsingContinuesAfterAMismatchedToken) {
  const std::string operands(kOperands);
  EXPECT_EQ(summary_of("1 + +"), "1:5: Syntax error: mismatched input '+' expecting " + operands +
                                     "\n1:6: Syntax error: mismatched input '<EOF>' expecting " + operands + "\n");
  EXPECT_EQ(summary_of("[(1, 2]"), "1:4: Syntax error: missing ')' at ','\n");
  EXPECT_EQ(summary_of("[1,"), "1:4: Syntax error: missing ']' at '<EOF>'\n");
  EXPECT_EQ(summary_of("object.l.all(x x > 0)"),
            "1:16: Syntax error: mismatched input 'x' expecting ')'\n1:21: Syntax error: extraneous input ')' expecting <EOF>\n");
  EXPECT_EQ(summary_of("{object, 1}"),
            "1:8: Syntax error: mismatched input ',' expecting ':'\n1:10: Syntax error: extraneous input '1' expecting '}'\n");
  EXPECT_EQ(
      summary_of("-"),
      "1:2: Syntax error: no viable alternative at input '-'\n1:2: Syntax error: mismatched input '<EOF>' expecting " + operands + "\n");
  EXPECT_EQ(summary_of("-!true"), "1:2: Syntax error: no viable alternative at input '-!'\n");
  EXPECT_EQ(summary_of("!)"), "1:2: Syntax error: extraneous input ')' expecting " + operands + "\n");
  EXPECT_EQ(summary_of("object.in"),
            "1:8: Syntax error: no viable alternative at input '.in'\n1:10: Syntax error: mismatched input '<EOF>' "
            "expecting " +
                operands + "\n");
  EXPECT_EQ(summary_of("object.true"), "1:8: Syntax error: mismatched input 'true' expecting IDENTIFIER\n");
  EXPECT_EQ(summary_of("object ? 1 2 : 3"), "1:12: Syntax error: extraneous input '2' expecting ':'\n");
}

TEST(Expressions, ReportInvalidTokensAndContinue) {
  EXPECT_EQ(problems("a | b"),
            "ERROR: <input>:1:3: Syntax error: token recognition error at: '| '\n | a | b\n | ..^\n"
            "ERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a | b\n | ....^");
  EXPECT_EQ(problems("1 + $"),
            "ERROR: <input>:1:5: Syntax error: token recognition error at: '$'\n | 1 + $\n | ....^\n"
            "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting " +
                std::string(kOperands) + "\n | 1 + $\n | .....^");
  EXPECT_TRUE(problems("\"\\xFh\"").starts_with("ERROR: <input>:1:1: Syntax error: token recognition error at: '\"\\xFh'\n"));
}

TEST(Expressions, ErrorMarkersCountCharactersAndUseWideDots) {
  EXPECT_EQ(problems("'\xE2\x82\xAC' b"),
            "ERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | '\xE2\x82\xAC' b\n | .\xEF\xBC\x8E..^");
  EXPECT_EQ(problems("1\n+ 2 3 +"), "ERROR: <input>:2:5: Syntax error: mismatched input '3' expecting <EOF>\n | + 2 3 +\n | ....^");
}

TEST(Expressions, UndeclaredNamesAreErrors) {
  EXPECT_EQ(problems("other-value"),
            "ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other-value\n | ^\n"
            "ERROR: <input>:1:7: undeclared reference to 'value' (in container '')\n | other-value\n | ......^");
  EXPECT_EQ(problems("variables.n == 1"),
            "ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.n == 1\n | ^");
  EXPECT_NE(problems("params.x"), "");
  EXPECT_EQ(problems_among({.params = true}, "params.x"), "");
  EXPECT_NE(problems_among({.authorizer = false}, "authorizer"), "");
  EXPECT_EQ(problems("request.userInfo.username == 'a' && namespaceObject.metadata.labels['b'] == 'c'"), "");
  EXPECT_EQ(problems("request.nope"), "ERROR: <input>:1:8: undefined field 'nope'\n | request.nope\n | .......^");
  EXPECT_EQ(problems("authorizer.requestResource.check('get').allowed()"), "");
}

TEST(Expressions, OfPoliciesSeeVariablesAsTheyAre) {
  const auto program = cel::policy_environment({})->compile("{'a': [1]}").program;
  ASSERT_NE(program, nullptr);
  const cel::PolicyVariables variables = {{"m", cel::policy_variable(program.get())}, {"broken", cel::policy_variable(nullptr)}};
  EXPECT_EQ(problems_among({.variables = &variables}, "variables.m.a[0] == 1 && variables.broken.x.y"), "");
  EXPECT_EQ(problems_among({.variables = &variables}, "variables.m.a == 'x'"),
            "ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(list(int), string)'\n"
            " | variables.m.a == 'x'\n | ..............^");
  EXPECT_EQ(problems_among({.variables = &variables}, "variables.n == 1"),
            "ERROR: <input>:1:10: undefined field 'n'\n | variables.n == 1\n | .........^");
}

TEST(Expressions, OfMutationsMakeObjectsAndPatches) {
  const cel::PolicyNames names{.patches = true};
  const auto result = [&](std::string_view text) {
    const auto program = cel::policy_environment(names)->compile(text).program;
    return program == nullptr ? "" : program->result_type();
  };
  EXPECT_EQ(result("Object{spec: Object.spec{replicas: 1}}"), "Object");
  EXPECT_EQ(result("[JSONPatch{op: 'test', path: '/a/' + jsonpatch.escapeKey('b'), value: {'x': 1}}]"), "list(JSONPatch)");
  EXPECT_NE(problems("Object{}"), "");
}

TEST(Expressions, ResultsAreOfTheTypeThatIsWanted) {
  const auto problem = [](std::string_view text, std::initializer_list<std::string_view> wanted) {
    return cel::result_problem(*cel::policy_environment({})->compile(text).program, wanted);
  };
  EXPECT_EQ(problem("true", {"bool"}), "");
  EXPECT_EQ(problem("object", {"any"}), "");
  EXPECT_EQ(problem("1", {"bool"}), "must evaluate to bool but got int");
  EXPECT_EQ(problem("object", {"bool"}), "must evaluate to bool but got dyn");
  EXPECT_EQ(problem("[timestamp('2020-01-01T00:00:00Z')]", {"string", "null"}),
            "must evaluate to one of [string null_type] but got list(google.protobuf.Timestamp)");
}

TEST(Expressions, MacrosBindNamesInsideThemAlone) {
  EXPECT_EQ(problems("object.l.exists(x, x == 1) && object.l.all(y, object.l.exists(x, x == y))"), "");
  EXPECT_EQ(problems("[1].all(x, x == 1) && x"),
            "ERROR: <input>:1:23: undeclared reference to 'x' (in container '')\n | [1].all(x, x == 1) && x\n | ......................^");
  EXPECT_EQ(problems("[1].all(2, 3)"), "ERROR: <input>:1:9: argument must be a simple name\n | [1].all(2, 3)\n | ........^");
  EXPECT_EQ(problems("has(object)"), "ERROR: <input>:1:5: invalid argument to has() macro\n | has(object)\n | ....^");
  // A member without a name is dropped, and its operand is checked.
  EXPECT_EQ(problems("has(object.a.true)"),
            "ERROR: <input>:1:14: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | has(object.a.true)\n | .............^");
  EXPECT_EQ(problems("object.filter(a.b, false)"),
            "ERROR: <input>:1:16: argument is not an identifier\n | object.filter(a.b, false)\n | ...............^");
}

TEST(Expressions, NumbersAndWordsHaveTheirLimits) {
  EXPECT_EQ(problems("-9223372036854775808 < 9223372036854775807"), "");
  EXPECT_EQ(problems("0xFFFFFFFFFFFFFFFFF"), "ERROR: <input>:1:1: invalid int literal\n | 0xFFFFFFFFFFFFFFFFF\n | ^");
  EXPECT_EQ(problems("1.99e90000009"), "ERROR: <input>:1:1: invalid double literal\n | 1.99e90000009\n | ^");
  EXPECT_EQ(problems("while"), "ERROR: <input>:1:1: reserved identifier: while\n | while\n | ^");
  EXPECT_EQ(problems(std::string(100'001, '1')),
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000");
}

TEST(Expressions, NestedTooDeepAreRefused) {
  EXPECT_EQ(problems(std::string(200, '(') + "1" + std::string(200, ')')), "");
  EXPECT_EQ(problems(std::string(50'000, '(')), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  EXPECT_EQ(problems(std::string(50'000, '[')), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  EXPECT_NE(problems(std::string(99'999, '!')), "");
  const auto sum = [](int terms) {
    std::string out = "1";
    for (int i = 1; i < terms; ++i) out += "+1";
    return problems(out);
  };
  EXPECT_EQ(sum(251), "");
  EXPECT_EQ(sum(252), "ERROR: <input>:-1:0: max recursion depth exceeded");
  const auto doubled = [](int links) {
    std::string out = "optional.of(1)";
    for (int i = 0; i < links; ++i) out += ".optMap(x, x)";
    return problems(out);
  };
  EXPECT_EQ(doubled(8), "");
  EXPECT_EQ(doubled(200), "ERROR: <input>:-1:0: expression is too large: its macros copy too much of it");
}

TEST(Expressions, OfAnyTokensAreReadToTheEnd) {
  static constexpr std::string_view kWords[] = {"object", "x",  ".",  "(",  ")",  "[",  "]",    "{", "}", ",",  ":",   "?",      "-",
                                                "!",      "+",  "in", "&&", "1",  "2u", "1.5",  "'", "`", "\"", "all", "has(",   "\\",
                                                "\xE2",   "\n", "|",  "=",  "as", "0x", "true", "b", "r", "//", "\0",  ".all(x,"};
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (unsigned n = random() % 12; n > 0; --n) text += kWords[random() % std::size(kWords)];
    Problems found;
    const auto tokens = tokenize(text, found);
    ASSERT_EQ(tokens.back().kind, TokenKind::kEnd);
    problems(text);
  }
}

TEST(Identifiers, AreWordsThatMeanNothingElse) {
  EXPECT_TRUE(cel::is_identifier("_a1"));
  for (const std::string_view bad : {"", "1a", "a-b", "in", "true", "while", "\xC3\xA4"}) EXPECT_FALSE(cel::is_identifier(bad)) << bad;
}

}  // namespace
}  // namespace backplane::cel_detail

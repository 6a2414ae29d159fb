#include "config/claim_expressions.hpp"

#include <gtest/gtest.h>

namespace backplane::authentication {
namespace {

Object claims_of(std::string_view text) { return json::parse(text).get_object(); }

// The result as JSON, or the error.
std::string evaluated(const std::string& expression, std::string_view claims) {
  const CompiledExpression compiled = compile_expression(expression, ExpressionOver::kClaims, false);
  if (compiled.program == nullptr) return compiled.problem;
  const ClaimsValue values(claims_of(claims), expression.find("__") != std::string::npos);
  auto result = values.evaluate({compiled.program});
  return result.ok() ? to_json(*result) : result.status().message();
}

TEST(ClaimExpressionsTest, ClaimsAreJsonWithDoubles) {
  EXPECT_EQ(evaluated("claims.a + ':x'", R"({"a":"b"})"), R"("b:x")");
  EXPECT_EQ(evaluated("claims.n == 1", R"({"n":1})"), "true");
  EXPECT_EQ(evaluated("type(claims.n) == double", R"({"n":1})"), "true");
  EXPECT_EQ(evaluated("claims.roles.split(',')", R"({"roles":"a,b"})"), R"(["a","b"])");
  EXPECT_EQ(evaluated("dyn(claims.roles).filter(r, r != 'x')", R"({"roles":["a","x"]})"), R"(["a"])");
  EXPECT_EQ(evaluated("claims.deep.list[0].k", R"({"deep":{"list":[{"k":"v"}]}})"), R"("v")");
  EXPECT_EQ(evaluated("claims.?missing.orValue('d')", "{}"), R"("d")");
  EXPECT_EQ(evaluated("has(claims.a)", R"({"a":null})"), "true");
  EXPECT_EQ(evaluated("claims.a", R"({"a":null})"), "null");
}

TEST(ClaimExpressionsTest, ValuesOfClaimsAreAnyToTheChecker) {
  EXPECT_EQ(evaluated("claims.roles.filter(r, true)", "{}"),
            "compilation failed: ERROR: <input>:1:7: expression of type 'any' cannot be range of a comprehension (must be list, map, or "
            "dynamic)\n | claims.roles.filter(r, true)\n | ......^");
}

TEST(ClaimExpressionsTest, NamesThatAreNoIdentifiersAreEscaped) {
  EXPECT_EQ(evaluated("claims.a__dot__b", R"({"a.b":"c"})"), R"("c")");
  EXPECT_EQ(evaluated("claims.kubernetes__dot__io.pod__slash__name", R"({"kubernetes.io":{"pod/name":"p"}})"), R"("p")");
}

TEST(ClaimExpressionsTest, AFailureNamesTheExpression) {
  EXPECT_EQ(evaluated("claims.missing", "{}"), "expression 'claims.missing' resulted in error: no such key: missing");
}

TEST(ClaimExpressionsTest, RulesFailWithTheirMessage) {
  const auto rule = [](const char* expression, const char* message) {
    return ClaimExpression{compile_expression(expression, ExpressionOver::kClaims, true).program, message};
  };
  const ClaimsValue values(claims_of(R"({"hd":"a","n":2})"), false);
  EXPECT_TRUE(values.check({rule("claims.hd == 'a'", "m"), rule("claims.n > 1.0", "n")}).ok());
  EXPECT_EQ(values.check({rule("claims.hd == 'a'", "m"), rule("claims.hd == 'b'", "not b")}).message(),
            "validation expression 'claims.hd == 'b'' failed: not b");
  EXPECT_EQ(values.check({rule("claims.hd == 'b'", "m"), rule("claims.x == 'b'", "n")}).message(),
            "expression 'claims.x == 'b'' resulted in error: no such key: x");
}

TEST(ClaimExpressionsTest, UserRulesSeeAllMembersOfTheUser) {
  UserInfo user;
  user.name = "a";
  user.extra = {{"example.org/k", {"v"}}};
  const auto check = [&](const char* expression) {
    return check_user_rules({{compile_expression(expression, ExpressionOver::kUser, true).program, "m"}}, user, false).message();
  };
  EXPECT_EQ(check("user.username == 'a' && user.uid == '' && user.groups.size() == 0"), "");
  EXPECT_EQ(check("user.extra['example.org/k'][0] == 'v'"), "");
  EXPECT_EQ(check("!user.username.startsWith('a')"), "validation expression '!user.username.startsWith('a')' failed: m");
}

TEST(ClaimExpressionsTest, StringLists) {
  const auto list = [](const char* text) { return string_list(json::parse(text)); };
  EXPECT_EQ(*list(R"("a")"), std::vector<std::string>{"a"});
  EXPECT_EQ(*list(R"(["a","","b"])"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(list("null")->empty());
  EXPECT_TRUE(list(R"("")")->empty());
  for (const char* wrong : {"1", "{}", "[1]", "true", R"(["a",["b"]])"}) {
    EXPECT_EQ(list(wrong).status().message(), "expression must return a string or a list of strings") << wrong;
  }
}

TEST(SelectedClaimsTest, SelectionsOfTheVariable) {
  for (const char* selects : {"claims.email", "claims . email", "claims.\n // c\nemail", "has(claims.email)", "claims.?email",
                              "'x' + claims.email", "(claims).email", "[claims.email]", "a.b(claims.email)", "claims.email.size()",
                              ".claims.email", "claims.a + claims.email", "true ? claims.email : ''"}) {
    EXPECT_TRUE(selects_claim(selects, "email")) << selects;
  }
  for (const char* not_selects : {"claims.emails", "claims['email']", "'claims.email'", "\"claims.email\"", "r'claims.email'",
                                  "claims.a.email", "x.claims.email", "claims.sub // claims.email", "myclaims.email", "'''claims.email'''",
                                  "b'claims.email'", "'\\'claims.email'", "x.?claims.email", "f(x).claims.email"}) {
    EXPECT_FALSE(selects_claim(not_selects, "email")) << not_selects;
  }
}

}  // namespace
}  // namespace backplane::authentication

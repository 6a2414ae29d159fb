#include "backplane/core/selectors.hpp"

#include <gtest/gtest.h>

#include "backplane/core/object.hpp"
#include "backplane/points/http.hpp"

namespace backplane {
namespace {

// Matches owned labels and the labels of an entry, and checks that the results are equal.
bool matches(std::string_view selector, const Labels& labels) {
  auto parsed = LabelSelector::parse(selector);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return false;
  ObjectEntry entry;
  entry.set_labels(labels);
  const bool matched = parsed->matches(labels);
  EXPECT_EQ(parsed->matches(entry.labels()), matched) << selector;
  return matched;
}
std::string error_of(std::string_view selector) {
  auto parsed = LabelSelector::parse(selector);
  return parsed.ok() ? "" : parsed.status().message();
}

TEST(LabelSelector, MatchesByEveryOperator) {
  const Labels labels = {{"app", "web"}, {"n", "3"}};
  EXPECT_TRUE(matches("", labels));
  EXPECT_TRUE(matches("app=web", labels));
  EXPECT_TRUE(matches("app==web,n", labels));
  EXPECT_FALSE(matches("app!=web", labels));
  EXPECT_TRUE(matches("other!=web", labels));
  EXPECT_TRUE(matches("app in (db, web)", labels));
  EXPECT_TRUE(matches("app notin (db)", labels));
  EXPECT_TRUE(matches("other notin (db)", labels));
  EXPECT_TRUE(matches("!other", labels));
  EXPECT_FALSE(matches("!app", labels));
  EXPECT_TRUE(matches("n>2,n<4", labels));
  EXPECT_FALSE(matches("app>2", labels));
  EXPECT_FALSE(matches("app=", labels));
}

TEST(LabelSelector, PrintsSortedByKey) {
  EXPECT_EQ(LabelSelector::parse("z,b in (y,x),!a,c!=1,d>1").value().to_string(), "!a,b in (x,y),c!=1,d>1,z");
}

TEST(LabelSelector, ErrorsAreWordedAsApimachineryDoes) {
  EXPECT_EQ(error_of("a b"), "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(error_of("a=b,"), "found '', expected: identifier after ','");
  EXPECT_EQ(error_of("=a"), "found '=', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(error_of("a in b"), "unable to parse requirement: found 'b' expected: '('");
  EXPECT_EQ(error_of("a=b c"), "found 'c', expected: ',' or 'end of string'");
  EXPECT_EQ(error_of("a>x"),
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer");
  EXPECT_TRUE(error_of("a/b/c=d").starts_with("unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must"));
  EXPECT_TRUE(error_of("a=_x").starts_with("unable to parse requirement: values[0][a]: Invalid value: \"_x\": a valid label must"));
}

TEST(FieldSelector, ParsesEscapesAndOperators) {
  auto parsed = FieldSelector::parse(R"(spec.nodeName=n\,1,metadata.name!=b)");
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->requirements().size(), 2u);
  EXPECT_EQ(parsed->requirements()[1].value, "n,1");
  EXPECT_EQ(parsed->to_string(), R"(metadata.name!=b,spec.nodeName=n\,1)");
  EXPECT_TRUE(parsed->matches([](std::string_view field) { return field == "metadata.name" ? "a" : "n,1"; }));
  EXPECT_FALSE(parsed->matches([](std::string_view) { return "b"; }));
}

TEST(FieldSelector, ATermOfAnOperatorAloneSelectsEverything) {
  for (const char* text : {"==", "=", "!=", "==,", "=,!="}) EXPECT_TRUE(FieldSelector::parse(text)->requirements().empty()) << text;
  EXPECT_EQ(FieldSelector::parse("=a,==,b=")->to_string(), "=a,b=");
}

TEST(FieldSelector, ErrorsAreWordedAsApimachineryDoes) {
  EXPECT_EQ(FieldSelector::parse("nonsense").status().message(), "invalid selector: 'nonsense'; can't understand 'nonsense'");
  EXPECT_EQ(FieldSelector::parse(R"(a=\x)").status().message(), R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_EQ(FieldSelector::parse("a=b=c").status().message(), "invalid field selector: unescaped character in value: 61");
}

TEST(Query, IsDecodedInOrder) {
  auto query = parse_query("a=1&b=x%20y+z&a=2&c&&d=%3D");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query_get(*query, "a"), "1");
  EXPECT_EQ(query_get(*query, "b"), "x y z");
  EXPECT_TRUE(query_has(*query, "c"));
  EXPECT_EQ(query_get(*query, "d"), "=");
  EXPECT_FALSE(query_has(*query, "e"));
}

TEST(Query, BadEscapesAreRefused) {
  EXPECT_EQ(parse_query("a=%zz").status().message(), "invalid URL escape \"%zz\"");
  EXPECT_EQ(parse_query("a=%2").status().message(), "invalid URL escape \"%2\"");
  EXPECT_EQ(parse_query("a;b").status().message(), "invalid semicolon separator in query");
}

}  // namespace
}  // namespace backplane

#include "backplane/types/schema.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

std::string error_of(std::string_view text) {
  auto value = parse_json(text, {}, nullptr);
  return value.ok() ? "" : value.status().message();
}

struct Syntax {
  std::string_view text, message;
};

TEST(ParseJson, SyntaxErrorsAreWordedAsGoWordsThem) {
  const Syntax kCases[] = {
      {"", "unexpected end of JSON input"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"{\"a\":", "unexpected end of JSON input"},
      {"[{]", "invalid character ']' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{}x", "invalid character 'x' after top-level value"},
      {"tru", "unexpected end of JSON input"},
      {"trup", "invalid character 'p' in literal true (expecting 'e')"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {"\"\\q\"", "invalid character 'q' in string escape code"},
      {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
      {"-a", "invalid character 'a' in numeric literal"},
      {"1.a", "invalid character 'a' after decimal point in numeric literal"},
      {"1e+", "unexpected end of JSON input"},
      {"{'a':1}", "invalid character '\\'' looking for beginning of object key string"},
      {"1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"},
  };
  for (const Syntax& one : kCases) EXPECT_EQ(error_of(one.text), one.message) << one.text;
}

TEST(ParseJson, NestingBeyondTheLimitIsRefusedAndUpToItIsNot) {
  const std::string deep(kMaxJsonDepth, '[');
  EXPECT_EQ(error_of(deep + std::string(kMaxJsonDepth, ']')), "");
  EXPECT_EQ(error_of("[" + deep + std::string(kMaxJsonDepth + 1, ']')), "exceeded max depth");
}

TEST(ParseJson, NumbersKeepTheirKindAndTheirLastDigit) {
  const Value value = *parse_json("[9223372036854775807, 9223372036854775808, 1.7976931348623157e308, 0.1, -0, 5e-324]", {}, nullptr);
  const Array& list = value.get_array();
  EXPECT_EQ(list[0].as_int64(), INT64_MAX);
  EXPECT_EQ(list[1].as_uint64(), 9223372036854775808u);
  EXPECT_EQ(list[2].as_double(), 1.7976931348623157e308);
  EXPECT_EQ(list[3].as_double(), 0.1);
  EXPECT_EQ(list[5].as_double(), 5e-324);
}

TEST(ParseJson, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(to_json(*parse_json("{\"a\":\"x\xFFy\"}", {}, nullptr)), "{\"a\":\"x\xEF\xBF\xBDy\"}");
  EXPECT_EQ(to_json(*parse_json(R"(["\ud800","\ud83d\ude00","\udc00z"])", {}, nullptr)),
            "[\"\xEF\xBF\xBD\",\"\xF0\x9F\x98\x80\",\"\xEF\xBF\xBDz\"]");
}

TEST(ParseJson, RepeatedMembersAreReportedInTheOrderMet) {
  DecodeReport report;
  auto value = parse_json(R"({"a":1,"b":{"c":1,"c":2},"a":2,"list":[{"d":1,"d":1}]})", {}, &report);
  ASSERT_TRUE(value.ok());
  const std::vector<std::string> expected{"duplicate field \"b.c\"", "duplicate field \"a\"", "duplicate field \"list[0].d\""};
  EXPECT_EQ(report.problems, expected);
  EXPECT_EQ(value->at("a").as_int64(), 2);
}

TEST(ParseJson, RepeatedObjectsMergeForTypedObjects) {
  const Value value = *parse_json(R"({"spec":{"a":1,"l":[{"x":1},{"y":1}]},"spec":{"b":2,"l":[{"z":3}]}})", {}, nullptr);
  EXPECT_EQ(to_json(value), R"({"spec":{"a":1,"b":2,"l":[{"x":1,"z":3}]}})");
}

TEST(ParseJson, RepeatedObjectsReplaceWhenAskedTo) {
  DecodeReport report;
  report.merge_duplicates = false;
  const Value value = *parse_json(R"({"spec":{"a":1},"spec":{"b":2}})", {}, &report);
  EXPECT_EQ(to_json(value), R"({"spec":{"b":2}})");
}

TEST(ParseJson, KeysWithEscapesCountAsTheTextTheyMean) {
  DecodeReport report;
  ASSERT_TRUE(parse_json(R"({"ab":1,"\u0061b":2})", {}, &report).ok());
  EXPECT_EQ(report.problems, std::vector<std::string>{"duplicate field \"ab\""});
}

TEST(ParseJson, NoMoreThanAHundredProblemsAreKept) {
  std::string text = "{";
  for (int i = 0; i < 150; ++i) text += "\"k" + std::to_string(i) + "\":1,\"k" + std::to_string(i) + "\":2,";
  text.back() = '}';
  DecodeReport report;
  ASSERT_TRUE(parse_json(text, {}, &report).ok());
  EXPECT_EQ(report.problems.size(), 100u);
}

TEST(ParseJson, TheTreeLivesInTheGivenStorage) {
  unsigned char buffer[4096];
  json::static_resource arena(buffer);
  const Value value = *parse_json(R"({"a":["text that is longer than a small string"]})", &arena, nullptr);
  EXPECT_EQ(value.storage().get(), &arena);
  EXPECT_EQ(value.get_object().at("a").get_array()[0].storage().get(), &arena);
}

}  // namespace
}  // namespace backplane

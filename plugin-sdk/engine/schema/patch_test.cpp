#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

std::string merged(std::string_view target, std::string_view patch) {
  Value value = json_of(target);
  merge_patch(value, json_of(patch));
  return to_json(value);
}

TEST(MergePatch, FollowsTheTableOfTheRfc) {
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(merged(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(merged(R"(["a"])", R"({"a":"b","c":null})"), R"({"a":"b"})");
  EXPECT_EQ(merged(R"({"e":null})", R"({"a":1})"), R"({"e":null,"a":1})");
  EXPECT_EQ(merged("{}", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
  EXPECT_EQ(merged(R"({"a":"b"})", "null"), "null");
}

TEST(MergePatch, NullsInListsAreRemovedUnlessTheListReplacesAnObject) {
  EXPECT_EQ(merged(R"({"a":[1]})", R"({"a":[{"b":null,"c":[null,{"d":null}]},null]})"), R"({"a":[{"c":[null,{}]},null]})");
  EXPECT_EQ(merged("{}", R"({"a":[{"b":null}]})"), R"({"a":[{}]})");
  EXPECT_EQ(merged(R"({"a":{"x":1}})", R"({"a":[{"b":null}]})"), R"({"a":[{"b":null}]})") << "upstream's library forgets this one";
}

std::string patched(std::string_view target, std::string_view operations) {
  Value value = json_of(target);
  const Value list = json_of(operations);
  const Status status = json_patch(value, list.get_array());
  return status.ok() ? to_json(value) : std::to_string(status.code()) + " " + status.message();
}
constexpr std::string_view kRefused = "422 the server rejected our request due to an error in our request";

TEST(JsonPatch, AppliesEachOperation) {
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])"), R"({"a":1,"b":2})");
  EXPECT_EQ(patched(R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])"), R"({"l":[1,2,3]})");
  EXPECT_EQ(patched(R"({"l":[1]})", R"([{"op":"add","path":"/l/-","value":2}])"), R"({"l":[1,2]})");
  EXPECT_EQ(patched(R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])"), R"({"b":2})");
  EXPECT_EQ(patched(R"({"l":[1,2,3]})", R"([{"op":"remove","path":"/l/-1"}])"), R"({"l":[1,2]})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":1}}])"), R"({"a":{"x":1}})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])"), R"({"b":1})");
  EXPECT_EQ(patched(R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])"), R"({"a":[1],"b":[1]})");
  EXPECT_EQ(patched(R"({"a":{"x":[1,null]}})", R"([{"op":"test","path":"/a","value":{"x":[1,null]}}])"), R"({"a":{"x":[1,null]}})");
  EXPECT_EQ(patched(R"({"a/b":{"~":1}})", R"([{"op":"replace","path":"/a~1b/~0","value":2}])"), R"({"a/b":{"~":2}})");
}

TEST(JsonPatch, IsAsLenientAsUpstreamsLibrary) {
  EXPECT_EQ(patched("{}", R"([{"op":"replace","path":"/none","value":1}])"), R"({"none":1})");
  EXPECT_EQ(patched(R"({"data":{}})", R"([{"op":"add","path":"data/x","value":1}])"), R"({"data":{},"x":1})");
  EXPECT_EQ(patched("{}", R"([{"op":"test","path":"/none","value":null}])"), "{}");
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":"/a"}])"), R"({"a":null})");
  EXPECT_EQ(patched("{}", "[]"), "{}");
}

TEST(JsonPatch, RefusesWhatCannotBeDoneWithOneMessage) {
  const std::string_view kCases[] = {
      R"([{"op":"remove","path":"/none"}])",
      R"([{"op":"test","path":"/a","value":2}])",
      R"([{"op":"test","path":"/a"}])",
      R"([{"op":"bad","path":"/a"}])",
      R"([{"op":"add","value":1}])",
      R"([{"op":"add","path":"","value":1}])",
      R"([{"op":"add","path":"/none/deep","value":1}])",
      R"([{"op":"add","path":"/a/b","value":1}])",
      R"([{"op":"add","path":"/l/5","value":1}])",
      R"([{"op":"add","path":"/l/x","value":1}])",
      R"([{"op":"replace","path":"/l/1","value":1}])",
      R"([{"op":"move","from":"/none","path":"/a"}])",
      R"([{"op":"copy","path":"/a"}])",
      R"([5])",
  };
  for (const std::string_view one : kCases) EXPECT_EQ(patched(R"({"a":1,"l":[1]})", one), kRefused) << one;
}

TEST(JsonPatch, LimitsOperationsAndCopies) {
  Array many(10001, Value(Object{{"op", "test"}, {"path", "/none"}, {"value", nullptr}}));
  Value value = Object();
  const Status status = json_patch(value, many);
  EXPECT_EQ(status.reason(), Reason::kRequestEntityTooLarge);
  EXPECT_NE(status.message().find("The allowed maximum operations in a JSON patch is 10000, got 10001"), std::string::npos);

  Array doubling;
  for (int i = 0; i < 30; ++i) doubling.push_back(Object{{"op", "copy"}, {"from", "/l"}, {"path", "/l/-"}});
  value = Object{{"l", Array{"0123456789"}}};
  EXPECT_EQ(json_patch(value, doubling).reason(), Reason::kInvalid);
}

// Regression: a dozen copies of /x into its deepest list made a tree that was too deep to walk, and the process crashed. Each removal
// moved all following members: ten thousand took nine seconds.
TEST(JsonPatch, RemovesMembersOfManyOneByOne) {
  constexpr int kMembers = 100'000, kRemoved = 9'000;
  Object members;
  for (int i = 0; i < kMembers; ++i) members["k" + std::to_string(i)] = i;
  Array operations;
  for (int i = 0; i < kRemoved; ++i) operations.emplace_back(Object{{"op", "remove"}, {"path", "/data/k" + std::to_string(i)}});
  Value target = Object{{"data", std::move(members)}};
  ASSERT_TRUE(json_patch(target, operations).ok());
  const Object& left = target.at("data").get_object();
  EXPECT_EQ(left.size(), static_cast<std::size_t>(kMembers - kRemoved));
  EXPECT_FALSE(left.contains("k8999"));
  EXPECT_EQ(left.at("k9000"), 9000);
  EXPECT_EQ(left.at("k99999"), 99999);
}

TEST(JsonPatch, RefusesCopiesThatDoubleTheNesting) {
  Value value = json_of(R"({"x":[]})");
  Array doubling;
  std::string path = "/x";
  for (std::size_t levels = 1; levels < 3000; levels *= 2) {
    doubling.push_back(Object{{"op", "copy"}, {"from", "/x"}, {"path", path + "/-"}});
    for (std::size_t i = 0; i < levels; ++i) path += "/0";
  }
  const Status status = json_patch(value, doubling);
  EXPECT_EQ(status.reason(), Reason::kBadRequest);
  EXPECT_EQ(status.message(), "the patched object would be nested deeper than 1000 levels");
}

TEST(JsonPatch, RefusesWhateverElseNestsTooDeeply) {
  const std::string deep(600, '[');
  const std::string tree = deep + std::string(600, ']');
  std::string far;
  for (int i = 0; i < 600; ++i) far += "/0";
  const auto refused = [&](const std::string& operation) {
    Value value = json_of("{\"a\":" + tree + ",\"b\":" + tree + "}");
    return json_patch(value, json_of("[" + operation + "]").get_array()).reason();
  };
  EXPECT_EQ(refused(R"({"op":"add","path":"/a)" + far.substr(2) + R"(/-","value":)" + tree + "}"), Reason::kBadRequest);
  EXPECT_EQ(refused(R"({"op":"move","from":"/b","path":"/a)" + far.substr(2) + R"(/-"})"), Reason::kBadRequest);
  EXPECT_EQ(refused(R"({"op":"copy","from":"/b","path":"/a)" + far.substr(2) + R"(/-"})"), Reason::kBadRequest);
  EXPECT_EQ(refused(R"({"op":"replace","path":"/a/0/0","value":)" + std::string(998, '[') + std::string(998, ']') + "}"),
            Reason::kBadRequest);
  EXPECT_EQ(refused(R"({"op":"move","from":"/a","path":"/c"})"), Status().reason());
}

TEST(GoPrint, PrintsValuesAsFmtDoes) {
  EXPECT_EQ(go_print(json_of(R"({"spec":{"foo":1,"b":[true,null,"x"]},"bar":1.5})")), "map[bar:1.5 spec:map[b:[true <nil> x] foo:1]]");
  EXPECT_EQ(go_print(json_of("[[],{}]")), "[[] map[]]");
  EXPECT_EQ(go_print(json_of("[1234567,1234567.5,999999.5,0.0001,0.00001,1e30,18446744073709551615]")),
            "[1234567 1.2345675e+06 999999.5 0.0001 1e-05 1e+30 1.8446744073709552e+19]");
}

}  // namespace
}  // namespace backplane

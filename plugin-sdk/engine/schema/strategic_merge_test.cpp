#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

std::string merged(std::string_view target, std::string_view patch) {
  Value value = json_of(target);
  const Status status = widget().strategic_merge(value, json_of(patch));
  return status.ok() ? to_json(value) : std::to_string(status.code()) + " " + status.message();
}
std::string parts(std::string_view live, std::string_view patch) {
  const std::string out = merged(R"({"spec":{"parts":)" + std::string(live) + "}}", R"({"spec":{)" + std::string(patch) + "}}");
  constexpr std::string_view kHead = R"({"spec":{"parts":)";
  return out.starts_with(kHead) ? out.substr(kHead.size(), out.size() - kHead.size() - 2) : out;
}

TEST(StrategicMerge, MergesListsByTheirKey) {
  EXPECT_EQ(parts(R"([{"name":"a","image":"1"},{"name":"b"}])", R"("parts":[{"name":"a","image":"2"}])"),
            R"([{"name":"a","image":"2"},{"name":"b"}])");
}

TEST(StrategicMerge, TakesAWholeFloatForAnotherKeyThanTheInteger) {
  EXPECT_EQ(parts(R"([{"name":80}])", R"("parts":[{"name":80.0,"image":"2"}])"), R"([{"name":80,"image":"2"},{"name":80}])");
}

TEST(StrategicMerge, PutsNewItemsBeforeThoseOnlyTheServerHas) {
  EXPECT_EQ(parts(R"([{"name":"a"}])", R"("parts":[{"name":"n"}])"), R"([{"name":"n"},{"name":"a"}])");
}

TEST(StrategicMerge, DeletesAndReplacesItems) {
  EXPECT_EQ(parts(R"([{"name":"a"},{"name":"b"}])", R"("parts":[{"name":"a","$patch":"delete"}])"), R"([{"name":"b"}])");
  EXPECT_EQ(parts(R"([{"name":"a"},{"name":"b"}])", R"("parts":[{"$patch":"replace"},{"name":"c"}])"), R"([{"name":"c"}])");
}

TEST(StrategicMerge, OrdersItemsAsSetElementOrderSays) {
  EXPECT_EQ(parts(R"([{"name":"a"},{"name":"b"},{"name":"server"}])",
                  R"("$setElementOrder/parts":[{"name":"b"},{"name":"new"},{"name":"a"}],"parts":[{"name":"new"}])"),
            R"([{"name":"b"},{"name":"new"},{"name":"a"},{"name":"server"}])");
  EXPECT_EQ(parts(R"([{"name":"a"},{"name":"b"}])", R"("$setElementOrder/parts":[{"name":"b"},{"name":"a"}])"),
            R"([{"name":"b"},{"name":"a"}])");
}

TEST(StrategicMerge, MergesScalarListsWithoutRepeating) {
  EXPECT_EQ(merged(R"({"spec":{"tags":["a","b"]}})", R"({"spec":{"tags":["b","c"]}})"), R"({"spec":{"tags":["a","b","c"]}})");
  EXPECT_EQ(merged(R"({"spec":{"tags":["a","b"]}})", R"({"spec":{"$deleteFromPrimitiveList/tags":["a"]}})"), R"({"spec":{"tags":["b"]}})");
  EXPECT_EQ(merged(R"({"spec":{"tags":["b"]}})", R"({"spec":{"$setElementOrder/tags":["c","b"],"tags":["c"]}})"),
            R"({"spec":{"tags":["c","b"]}})");
}

TEST(StrategicMerge, ReplacesListsWithoutAStrategy) {
  EXPECT_EQ(merged(R"({"spec":{"plain":["a","b"]}})", R"({"spec":{"plain":["c"]}})"), R"({"spec":{"plain":["c"]}})");
}

TEST(StrategicMerge, MergesObjectsAndRemovesNulls) {
  EXPECT_EQ(merged(R"({"spec":{"labels":{"a":"1","b":"2"},"mode":"x"}})", R"({"spec":{"labels":{"a":null,"c":"3"},"mode":null}})"),
            R"({"spec":{"labels":{"b":"2","c":"3"}}})");
  EXPECT_EQ(merged("{}", R"({"spec":{"labels":{"a":null,"b":"2"}}})"), R"({"spec":{"labels":{"b":"2"}}})");
}

TEST(StrategicMerge, ReplacesAndEmptiesObjects) {
  EXPECT_EQ(merged(R"({"spec":{"labels":{"a":"1"}}})", R"({"spec":{"labels":{"$patch":"replace","b":"2"}}})"),
            R"({"spec":{"labels":{"b":"2"}}})");
  EXPECT_EQ(merged(R"({"spec":{"labels":{"a":"1"}}})", R"({"spec":{"labels":{"$patch":"delete"}}})"), R"({"spec":{"labels":{}}})");
  EXPECT_EQ(merged("{}", R"({"spec":{"labels":{"$patch":"delete"},"tags":["x"]}})"), R"({"spec":{"tags":["x"]}})");
}

TEST(StrategicMerge, KeepsOnlyRetainedKeys) {
  EXPECT_EQ(merged(R"({"spec":{"strategy":{"type":"R","rolling":"x"}}})", R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"S"}}})"),
            R"({"spec":{"strategy":{"type":"S"}}})");
  EXPECT_EQ(merged(R"({"spec":{"strategy":{"type":"R"}}})", R"({"spec":{"strategy":{"$retainKeys":["type"],"rolling":"S"}}})"),
            "400 invalid patch format of retainKeys");
}

TEST(StrategicMerge, ErrorsHaveUpstreamsMessages) {
  EXPECT_EQ(parts(R"([{"name":"a"}])", R"("parts":[{"image":"x"}])"), "500 map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(merged(R"({"spec":{"strategy":{"type":"R"}}})", R"({"spec":{"strategy":{"$patch":"bad"}}})"),
            "500 unknown patch type: bad in map: map[$patch:bad]");
  EXPECT_EQ(parts(R"([{"name":"a"}])", R"("parts":["x"])"), "500 list element types are not identical: [[map[name:a]] [x]]");
  EXPECT_EQ(merged("{}", "[]"), "400 json: cannot unmarshal array into Go value of type map[string]interface {}");
}

TEST(StrategicMerge, RefusesAnOrderOfItemsWithoutTheirKey) {
  constexpr std::string_view kLive = R"([{"name":"a"}])";
  EXPECT_EQ(parts(kLive, R"("$setElementOrder/parts":[{"image":"x"}])"), "500 map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(parts(kLive, R"("$setElementOrder/parts":[{"name":"a"},{}])"), "500 map: map[] does not contain declared merge key: name");
  EXPECT_EQ(parts(kLive, R"("$setElementOrder/parts":["a"])"), "500 value for key 0 is not a map");
  EXPECT_EQ(parts(kLive, R"("$setElementOrder/parts":[{"name":"a"},"b"])"),
            "500 expected a map[string]interface {}, but received a string");
  EXPECT_EQ(parts(kLive, R"("$setElementOrder/parts":["a"],"parts":[{"name":"a","image":"2"}])"),
            "500 expected a map[string]interface {}, but received a string");
  EXPECT_EQ(parts(R"([{"image":"1"}])", R"("parts":[{"name":"a"}])"), "500 map: map[image:1] does not contain declared merge key: name");
}

TEST(StrategicMerge, KnowsNoMemberOfWhatIsKeptAsItIs) {
  EXPECT_EQ(merged(R"({"spec":{"extra":{"a":{"b":1}}}})", R"({"spec":{"extra":{"a":{"c":1}}}})"),
            R"(500 unable to find api field in struct RawExtension for the json field "a")");
}

TEST(StrategicMerge, ReplacesAMemberOfAnotherKind) { EXPECT_EQ(parts(R"([{"name":"a"}])", R"("parts":"x")"), "\"x\""); }

TEST(StrategicMerge, IsNotForCustomResources) {
  const auto set = compile_documents({structural_document(R"({"type":"object"})")});
  Value value = Object();
  EXPECT_EQ(set->find("Foo")->strategic_merge(value, Object()).reason(), Reason::kBadRequest);
}

}  // namespace
}  // namespace backplane

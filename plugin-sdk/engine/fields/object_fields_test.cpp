// Fields of objects: sets, differences, merging and removal, by the keywords of their types.
#include "engine/object_fields.hpp"

#include "../schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kFoo = R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {
  "text": {"type": "string"}, "number": {"type": "integer"}, "flag": {"type": "boolean"}, "either": {"x-kubernetes-int-or-string": true},
  "atoms": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
  "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
  "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
  "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {"type": "object", "properties": {
    "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
    "inner": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}}}}},
  "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
  "labels": {"type": "object", "additionalProperties": {"type": "string"}},
  "groups": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}}},
  "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
  "half": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}},
  "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}}})";

const Schema& foo() {
  static const std::string document = structural_document(kFoo);
  static const auto set = compile_documents({document});
  return *set->find("Foo");
}

Object object_of(std::string_view text) { return json_of(text).as_object(); }
Object spec(std::string_view text) { return object_of(R"({"spec":)" + std::string(text) + "}"); }

std::string fields(const Schema* type, const Object& object) {
  const auto set = fields_of(type, object);
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? set->encode() : "";
}
std::string spec_fields(std::string_view text) { return fields(&foo(), spec(text)); }

// "+a ~m -r"
std::string changes(const Schema* type, const Object& before, const Object& after) {
  const auto found = compare_fields(type, before, after);
  EXPECT_TRUE(found.ok()) << found.status().message();
  std::string out;
  const auto add = [&](char sign, const FieldSet& set) {
    set.for_each([&](std::span<const PathElement> path) { out += (out.empty() ? "" : " ") + std::string(1, sign) + path_text(path); });
  };
  if (!found.ok()) return out;
  add('+', found->added);
  add('~', found->modified);
  add('-', found->removed);
  return out;
}
std::string spec_changes(std::string_view before, std::string_view after) { return changes(&foo(), spec(before), spec(after)); }

std::string merged(std::string_view live, std::string_view applied) {
  const auto out = merge_fields(&foo(), spec(live), spec(applied), {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? to_json(out->at("spec")) : "";
}

std::string problem(std::string_view text, Duplicates duplicates = Duplicates::kRefused) {
  return check_fields(&foo(), spec(text), duplicates).message();
}

FieldSet set_of(std::string_view text) { return *FieldSet::decode(text); }

TEST(ObjectFields, OfScalarsListsAndMaps) {
  EXPECT_EQ(spec_fields(R"({"text":"a","number":1,"flag":false})"), R"({"f:spec":{"f:flag":{},"f:number":{},"f:text":{}}})");
  EXPECT_EQ(spec_fields(R"({"atoms":[{"a":"1"}]})"), R"({"f:spec":{"f:atoms":{}}})");
  EXPECT_EQ(spec_fields(R"({"set":["b","a"],"numbers":[10,9]})"),
            R"({"f:spec":{"f:numbers":{"v:9":{},"v:10":{}},"f:set":{"v:\"a\"":{},"v:\"b\"":{}}}})");
  EXPECT_EQ(spec_fields(R"({"whole":{"a":"1"}})"), R"({"f:spec":{"f:whole":{}}})");
  EXPECT_EQ(spec_fields(R"({"labels":{"x":"1"}})"), R"({"f:spec":{"f:labels":{"f:x":{}}}})");
  EXPECT_EQ(spec_fields(R"({"groups":{"g":{"x":"1"}}})"), R"({"f:spec":{"f:groups":{"f:g":{".":{},"f:x":{}}}}})");
  EXPECT_EQ(spec_fields(R"({"either":"10%"})"), R"({"f:spec":{"f:either":{}}})");
}

TEST(ObjectFields, ItemsOfMapListsAreNamedByTheirKeysWithDefaults) {
  EXPECT_EQ(
      spec_fields(R"({"ports":[{"port":80,"name":"x"},{"port":80,"protocol":"UDP"}]})"),
      R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}},"k:{\"port\":80,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}})");
  EXPECT_EQ(spec_fields(R"({"ports":[{"protocol":"TCP"}]})"),
            R"({"f:spec":{"f:ports":{"k:{\"protocol\":\"TCP\"}":{".":{},"f:protocol":{}}}}})");
  EXPECT_EQ(
      spec_fields(R"({"ports":[{"port":1,"inner":[{"k":"a","v":"b"}]}]})"),
      R"({"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:inner":{"k:{\"k\":\"a\"}":{".":{},"f:k":{},"f:v":{}}},"f:port":{}}}}})");
}

TEST(ObjectFields, NothingIsAFieldOfItsOwnWhereAMapIs) {
  EXPECT_EQ(spec_fields(R"({"text":null,"labels":{},"set":[],"ports":null})"), R"({"f:spec":{"f:labels":{},"f:ports":{},"f:text":{}}})");
  EXPECT_EQ(fields(&foo(), object_of(R"({"spec":{}})")), R"({"f:spec":{}})");
}

TEST(ObjectFields, RepeatedItemsAreOneFieldWithNothingBelow) {
  EXPECT_EQ(
      spec_fields(R"({"ports":[{"port":1,"name":"a"},{"port":1,"name":"b"},{"port":2}],"set":["x","x"]})"),
      R"({"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{},"k:{\"port\":2,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:set":{"v:\"x\"":{}}}})");
}

TEST(ObjectFields, WhatNoTypeDeclaresIsGranularMapsAndAtomicLists) {
  EXPECT_EQ(spec_fields(R"({"free":{"a":{"b":[1,{"c":2}]}}})"), R"({"f:spec":{"f:free":{"f:a":{".":{},"f:b":{}}}}})");
  EXPECT_EQ(spec_fields(R"({"half":{"a":"1","b":{"c":1}}})"), R"({"f:spec":{"f:half":{"f:a":{},"f:b":{".":{},"f:c":{}}}}})");
  EXPECT_EQ(fields(nullptr, object_of(R"({"spec":{"l":[{"name":"a"}],"m":{"x":1}}})")),
            R"({"f:spec":{".":{},"f:l":{},"f:m":{".":{},"f:x":{}}}})");
  EXPECT_EQ(spec_fields(R"({"object":{"kind":"K","metadata":{"labels":{"a":"b"},"finalizers":["f"]},"x":1}})"),
            R"({"f:spec":{"f:object":{"f:kind":{},"f:metadata":{"f:finalizers":{"v:\"f\"":{}},"f:labels":{"f:a":{}}},"f:x":{}}}})");
}

TEST(ObjectFields, OfTypedObjectsByTheirPublishedWords) {
  const Schema* pod = core_schemas()->find(GroupVersionKind{"", "v1", "Pod"});
  EXPECT_EQ(
      fields(
          pod,
          object_of(
              R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}},"env":[{"name":"A","value":"b"}],"command":["x"]}],
    "nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}},"imagePullSecrets":[{"name":"s"}]}})")),
      R"({"f:spec":{"f:affinity":{"f:nodeAffinity":{"f:requiredDuringSchedulingIgnoredDuringExecution":{}}},"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:command":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{"f:limits":{"f:cpu":{}}}}},"f:imagePullSecrets":{"k:{\"name\":\"s\"}":{}},"f:nodeSelector":{}}})");
  // Next to a reference, the keyword for maps applies to the referenced type.
  const Schema* volume = core_schemas()->find(GroupVersionKind{"", "v1", "PersistentVolume"});
  EXPECT_EQ(fields(volume, object_of(R"({"spec":{"claimRef":{"name":"c"},"capacity":{"storage":"1Gi"}}})")),
            R"({"f:spec":{"f:capacity":{"f:storage":{}},"f:claimRef":{"f:name":{}}}})");
}

TEST(CompareFields, FindsWhatIsAddedChangedAndRemoved) {
  EXPECT_EQ(spec_changes(R"({"text":"a","number":1})", R"({"text":"b","flag":true})"), "+.spec.flag ~.spec.text -.spec.number");
  EXPECT_EQ(spec_changes(R"({"text":"a","labels":{"x":"1","y":"2"}})", R"({"labels":{"y":"2","x":"1"},"text":"a"})"), "");
  EXPECT_EQ(spec_changes("{}", R"({"labels":{"x":"1"}})"), "+.spec.labels +.spec.labels.x");
  EXPECT_EQ(spec_changes(R"({"labels":{"x":"1"}})", R"({"labels":{}})"), "-.spec.labels.x");
  EXPECT_EQ(spec_changes(R"({"labels":{"x":"1"}})", "{}"), "-.spec.labels -.spec.labels.x");
  EXPECT_EQ(spec_changes(R"({"labels":null})", R"({"labels":{}})"), "~.spec.labels");
  EXPECT_EQ(spec_changes(R"({"number":1})", R"({"number":1.0})"), "");
  EXPECT_EQ(spec_changes(R"({"whole":{"a":"1"}})", R"({"whole":{"a":"1","b":"2"}})"), "~.spec.whole");
  EXPECT_EQ(spec_changes(R"({"atoms":[{"a":"1"}]})", R"({"atoms":[{"a":"2"}]})"), "~.spec.atoms");
  EXPECT_EQ(spec_changes(R"({"free":{"a":1}})", R"({"free":{"a":{"b":1}}})"), "+.spec.free.a.b ~.spec.free.a");
}

TEST(CompareFields, ListItemsAreIdentifiedByKeyOrValue) {
  EXPECT_EQ(spec_changes(R"({"set":["a","b"]})", R"({"set":["c","a"]})"), R"(+.spec.set[="c"] -.spec.set[="b"])");
  EXPECT_EQ(
      spec_changes(R"({"ports":[{"port":1,"name":"a"},{"port":2}]})", R"({"ports":[{"port":3},{"port":1,"name":"b"}]})"),
      R"(+.spec.ports[port=3,protocol="TCP"] +.spec.ports[port=3,protocol="TCP"].port ~.spec.ports[port=1,protocol="TCP"].name -.spec.ports[port=2,protocol="TCP"] -.spec.ports[port=2,protocol="TCP"].port)");
  EXPECT_EQ(spec_changes(R"({"ports":[{"port":1},{"port":2}]})", R"({"ports":[{"port":2},{"port":1}]})"), "");
}

TEST(CompareFields, RepeatedItemsAreOneLeaf) {
  const std::string key = R"(.spec.ports[port=1,protocol="TCP"])";
  EXPECT_EQ(spec_changes(R"({"ports":[{"port":1},{"port":1,"name":"a"}]})", R"({"ports":[{"port":1},{"port":1,"name":"b"}]})"), "~" + key);
  EXPECT_EQ(spec_changes(R"({"ports":[{"port":1},{"port":1}]})", R"({"ports":[{"port":1}]})"), "+" + key + " +" + key + ".port -" + key);
  EXPECT_EQ(spec_changes(R"({"ports":[{"port":1}]})", R"({"ports":[{"port":1},{"port":1}]})"),
            "+" + key + " -" + key + " -" + key + ".port");
}

TEST(CompareFields, LongListsAreComparedLikeShortOnes) {
  std::string before = R"({"set":[)", after = before;
  for (int i = 0; i < 100; ++i) {
    before += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
    after += (i == 0 ? "\"" : ",\"") + std::to_string(i + 1) + "\"";
  }
  EXPECT_EQ(spec_changes(before + "]}", after + "]}"), R"(+.spec.set[="100"] -.spec.set[="0"])");
}

TEST(CompareFields, DeepObjectsAreComparedOnce) {
  std::string before = R"({"free":)", after = before, close = "}";
  for (int i = 0; i < 200; ++i) {
    before += R"({"m":)";
    after += R"({"m":)";
    close += "}";
  }
  EXPECT_EQ(spec_changes(before + "1" + close, after + "1" + close), "");
  EXPECT_TRUE(spec_changes(before + "1" + close, after + "2" + close).starts_with("~.spec.free.m.m"));
}

TEST(MergeFields, AppliedMembersWin) {
  EXPECT_EQ(merged(R"({"text":"a","number":1,"labels":{"x":"1","y":"1"}})", R"({"text":"b","labels":{"y":"2","z":"3"}})"),
            R"({"text":"b","number":1,"labels":{"x":"1","y":"2","z":"3"}})");
  EXPECT_EQ(merged(R"({"whole":{"a":"1"},"atoms":[{"a":"1"}]})", R"({"whole":{"b":"2"},"atoms":[]})"), R"({"whole":{"b":"2"},"atoms":[]})");
  EXPECT_EQ(merged(R"({"free":{"a":1,"b":{"c":1}}})", R"({"free":{"a":{"x":1},"b":{"d":2}}})"),
            R"({"free":{"a":{"x":1},"b":{"c":1,"d":2}}})");
}

TEST(MergeFields, ListsAreMergedInUpstreamsOrder) {
  EXPECT_EQ(merged(R"({"set":["a","b","c"]})", R"({"set":["c","x","a"]})"), R"({"set":["b","c","x","a"]})");
  EXPECT_EQ(merged(R"({"set":["a","b"]})", R"({"set":["c"]})"), R"({"set":["a","b","c"]})");
  EXPECT_EQ(merged(R"({"set":["1","2","3"]})", R"({"set":["3","2","1"]})"), R"({"set":["3","2","1"]})");
  EXPECT_EQ(merged(R"({"ports":[{"port":1,"name":"a"},{"port":2}]})", R"({"ports":[{"port":2,"name":"b"},{"port":3}]})"),
            R"({"ports":[{"port":1,"name":"a"},{"port":2,"name":"b"},{"port":3}]})");
  EXPECT_EQ(merged(R"({"ports":[{"port":1,"protocol":"TCP","name":"a"}]})", R"({"ports":[{"port":1,"name":"b"}]})"),
            R"({"ports":[{"port":1,"protocol":"TCP","name":"b"}]})");
}

TEST(MergeFields, AnAppliedItemTakesThePlaceOfRepeatedOnes) {
  EXPECT_EQ(merged(R"({"ports":[{"port":1,"name":"a"},{"port":1,"name":"b"},{"port":2}]})", R"({"ports":[{"port":1,"name":"c"}]})"),
            R"({"ports":[{"port":1,"name":"c"},{"port":2}]})");
  EXPECT_EQ(merged(R"({"ports":[{"port":1},{"port":1},{"port":2}]})", R"({"ports":[{"port":2,"name":"c"}]})"),
            R"({"ports":[{"port":1},{"port":1},{"port":2,"name":"c"}]})");
}

TEST(RemoveFields, TakesOutPathsAndWhatIsBelow) {
  const auto without = [](std::string_view object, std::string_view set) {
    return to_json(remove_fields(&foo(), spec(object), set_of(set), {}));
  };
  EXPECT_EQ(without(R"({"text":"a","labels":{"x":"1","y":"2"}})", R"({"f:spec":{"f:labels":{"f:x":{}}}})"),
            R"({"spec":{"text":"a","labels":{"y":"2"}}})");
  EXPECT_EQ(without(R"({"text":"a","labels":{"x":"1"}})", R"({"f:spec":{"f:labels":{"f:x":{}}}})"),
            R"({"spec":{"text":"a","labels":null}})");
  EXPECT_EQ(without(R"({"text":"a","labels":{"x":"1"}})", R"({"f:spec":{"f:labels":{}}})"), R"({"spec":{"text":"a"}})");
  EXPECT_EQ(
      without(R"({"ports":[{"port":1,"name":"a"},{"port":2}]})",
              R"({"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:name":{}},"k:{\"port\":2,\"protocol\":\"TCP\"}":{}}}})"),
      R"({"spec":{"ports":[{"port":1}]}})");
  EXPECT_EQ(without(R"({"set":["a","b"]})", R"({"f:spec":{"f:set":{"v:\"a\"":{}}}})"), R"({"spec":{"set":["b"]}})");
}

TEST(ExtractFields, LeavesOnlyWhatIsNamed) {
  const auto only = [](std::string_view object, std::string_view set, bool keys) {
    return to_json(extract_fields(&foo(), spec(object), set_of(set), keys, {}));
  };
  EXPECT_EQ(only(R"({"text":"a","number":1,"atoms":[{"a":"1"}]})", R"({"f:spec":{"f:text":{},"f:atoms":{}}})", false),
            R"({"spec":{"text":"a","atoms":[{"a":"1"}]}})");
  const std::string_view ports = R"({"ports":[{"port":1,"name":"a"},{"port":2}]})";
  const std::string_view name = R"({"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:name":{}}}}})";
  EXPECT_EQ(only(ports, name, false), R"({"spec":{"ports":[{"name":"a"}]}})");
  EXPECT_EQ(only(ports, name, true), R"({"spec":{"ports":[{"port":1,"name":"a"}]}})");
}

TEST(CheckFields, ValuesOfAWrongTypeAreReportedWithTheirPath) {
  EXPECT_EQ(problem(R"({"text":"a","number":1,"flag":true,"either":"x","set":["a"],"free":{"x":[1]},"labels":null})"), "");
  EXPECT_EQ(problem(R"({"unknown":1})"), ".spec.unknown: field not declared in schema");
  EXPECT_EQ(problem(R"({"text":1})"), ".spec.text: expected string, got &value.valueUnstructured{Value:1}");
  EXPECT_EQ(
      problem(R"({"text":{"a":[null,"b"]}})"),
      R"(.spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{interface {}(nil), "b"}}})");
  EXPECT_EQ(problem(R"({"number":"1"})"), ".spec.number: expected numeric (int or float), got string");
  EXPECT_EQ(problem(R"({"flag":"x"})"), ".spec.flag: expected boolean, got &{x}");
  EXPECT_EQ(problem(R"({"labels":[1]})"), ".spec.labels: expected map, got &{[1]}");
  EXPECT_EQ(problem(R"({"set":{"a":1}})"), ".spec.set: expected list, got &{map[a:1]}");
  EXPECT_EQ(problem(R"({"text":1,"number":"a"})"),
            "errors:\n  .spec.text: expected string, got &value.valueUnstructured{Value:1}\n  .spec.number: expected numeric (int or "
            "float), got string");
  EXPECT_EQ(problem(R"({"atoms":[{"b":1}]})"), ".spec.atoms[0].b: field not declared in schema");
}

TEST(CheckFields, ItemsOfMapListsHaveTheirKeysAndAreThereOnce) {
  EXPECT_EQ(problem(R"({"ports":[{"port":80},{"port":80,"protocol":"TCP"}]})"),
            R"(.spec.ports: duplicate entries for key [port=80,protocol="TCP"])");
  EXPECT_EQ(problem(R"({"ports":[{"port":80},{"port":80}]})", Duplicates::kAllowed), "");
  EXPECT_EQ(problem(R"({"numbers":[1000000,1000000]})"), ".spec.numbers: duplicate entries for key [=1000000]");
  EXPECT_EQ(problem(R"({"set":["a","a"]})"), R"(.spec.set: duplicate entries for key [="a"])");
  EXPECT_EQ(
      problem(R"({"ports":[{"port":1,"inner":[{"v":"x"}]}]})"),
      R"(.spec.ports[port=1,protocol="TCP"].inner: element 0: associative list with keys has an element that omits all key fields ["k"] (and doesn't have default values for any key fields))");
  EXPECT_EQ(problem(R"({"ports":[null]})"), ".spec.ports: element 0: associative list with keys may not have a null element");
  EXPECT_EQ(problem(R"({"ports":["x"]})"), ".spec.ports: element 0: associative list with keys may not have non-map elements");
  EXPECT_EQ(problem(R"({"set":[{}]})"), ".spec.set: element 0: associative list without keys has an element that's a map type");
  EXPECT_EQ(problem(R"({"set":[[]]})"), ".spec.set: element 0: not supported: associative list with lists as elements");
  EXPECT_EQ(problem(R"({"set":[null]})"), ".spec.set: element 0: associative list without keys has an element that's an explicit null");
}

TEST(TypeChanges, NamedFieldsBecomeMembers) {
  EXPECT_EQ(with_named_fields(&foo(), set_of(R"({"f:spec":{"f:groups":{"f:g":{"f:x":{}}},"f:ports":{"k:{\"port\":1}":{"f:name":{}}}}})"))
                .encode(),
            R"({"f:spec":{".":{},"f:groups":{".":{},"f:g":{"f:x":{}}},"f:ports":{".":{},"k:{\"port\":1}":{"f:name":{}}}}})");
}

TEST(TypeChanges, PartsOfATypeThatBecameAtomicBecomeTheWhole) {
  const auto now = reconciled_fields(&foo(), set_of(R"({"f:spec":{"f:atoms":{"i:0":{"f:a":{}}},"f:text":{},"f:whole":{"f:a":{}}}})"));
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->encode(), R"({"f:spec":{"f:atoms":{},"f:text":{},"f:whole":{}}})");
  EXPECT_FALSE(
      reconciled_fields(
          &foo(), set_of(R"({"f:spec":{"f:atoms":{},"f:free":{"f:a":{"f:b":{}}},"f:ports":{"k:{\"port\":1}":{".":{},"f:name":{}}}}})"))
          .has_value());
  EXPECT_FALSE(reconciled_fields(nullptr, set_of(R"({"f:spec":{"f:l":{"i:0":{}}}})")).has_value());
}

}  // namespace
}  // namespace backplane

#include "engine/gated_fields.hpp"

#include <set>
#include <string>

#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kBoats = R"({"definitions": {
  "test.api.v1.Boat": {"type": "object", "properties": {
    "sail": {"type": "string", "x-backplane-gate": "Sails"},
    "anchor": {"type": "boolean", "x-backplane-pointer": true, "x-backplane-gate": ["Anchors", "Chains"]},
    "oars": {"type": "array", "items": {"$ref": "#/definitions/test.api.v1.Oar"}},
    "engine": {"allOf": [{"$ref": "#/definitions/test.api.v1.Engine"}], "x-backplane-pointer": true},
    "crew": {"type": "object", "additionalProperties": {"$ref": "#/definitions/test.api.v1.Sailor"}},
    "tender": {"allOf": [{"$ref": "#/definitions/test.api.v1.Boat"}], "x-backplane-pointer": true},
    "harbour": {"allOf": [{"$ref": "#/definitions/test.api.v1.Harbour"}], "x-backplane-pointer": true,
      "x-backplane-gate": {"gate": "FarHarbours", "having": "country", "also": ["port"]}},
    "port": {"type": "string"},
    "flag": {"type": "string", "x-backplane-pointer": true, "x-backplane-gate": {"gate": "Flags", "except": ["white"]}},
    "speed": {"type": "integer", "format": "int32", "x-backplane-pointer": true, "x-backplane-gate": {"gate": "Speeds", "default": 1}}}},
  "test.api.v1.Oar": {"type": "object", "properties": {
    "length": {"type": "integer", "format": "int32", "x-backplane-gate": {"gate": "Rowing", "together": true}}}},
  "test.api.v1.Sailor": {"type": "object", "properties": {
    "bench": {"type": "string", "x-backplane-gate": {"gate": "Rowing", "together": true}}, "name": {"type": "string"}}},
  "test.api.v1.Engine": {"type": "object", "properties": {
    "fuel": {"type": "string", "x-backplane-gate": {"gate": "Engines", "holder": true}}, "power": {"type": "string"}}},
  "test.api.v1.Harbour": {"type": "object", "properties": {"name": {"type": "string"}, "country": {"type": "string"}}},
  "test.api.v1.Plain": {"type": "object", "properties": {"name": {"type": "string"}}}
}})";

const SchemaSet& boats() {
  static const auto set = compile_documents({kBoats});
  return *set;
}

using Names = std::set<std::string, std::less<>>;

// The rest of an object if these gates are off and the others on.
std::string kept(const Names& off, std::string_view text, std::string_view old = {}) {
  const auto gated = GatedFields::of(*boats().find("test.api.v1.Boat"), [&](std::string_view gate) { return !off.contains(gate); });
  Value object = json_of(text);
  if (gated == nullptr) return to_json(object);
  const Value before = old.empty() ? Value() : json_of(old);
  gated->apply(object.get_object(), old.empty() ? nullptr : &before.get_object());
  return to_json(object);
}

TEST(GatedFields, AreThereWhileTheirGatesAreOn) { EXPECT_EQ(kept({}, R"({"sail":"red","speed":2})"), R"({"sail":"red","speed":2})"); }

TEST(GatedFields, TypesWithoutThemCostNothing) {
  const auto off = [](std::string_view) { return false; };
  EXPECT_EQ(GatedFields::of(*boats().find("test.api.v1.Plain"), off), nullptr);
  EXPECT_EQ(GatedFields::of(*boats().find("test.api.v1.Harbour"), off), nullptr);
}

TEST(GatedFields, AreDroppedWhileTheirGatesAreOff) {
  EXPECT_EQ(kept({"Sails"}, R"({"sail":"red","port":"p"})"), R"({"port":"p","speed":1})");
  EXPECT_EQ(kept({"Chains", "Speeds"}, R"({"anchor":false})"), "{}") << "all of the gates have to be on";
  EXPECT_EQ(kept({"Rowing", "Speeds"}, R"({"oars":[{"length":2},{}],"crew":{"a":{"bench":"b","name":"n"}}})"),
            R"({"oars":[{},{}],"crew":{"a":{"name":"n"}}})");
  EXPECT_EQ(kept({"Sails", "Speeds"}, R"({"tender":{"sail":"red","tender":{"sail":"blue","port":"p"}}})"),
            R"({"tender":{"tender":{"port":"p"}}})");
}

TEST(GatedFields, StayWhereTheOldObjectUsesThem) {
  EXPECT_EQ(kept({"Sails", "Speeds"}, R"({"sail":"red"})", R"({"sail":"blue"})"), R"({"sail":"red"})");
  EXPECT_EQ(kept({"Sails", "Speeds"}, R"({"sail":"red"})", R"({"sail":""})"), "{}") << "unset is no use";
  EXPECT_EQ(kept({"Sails", "Speeds"}, R"({"tender":{"sail":"red"}})", R"({"sail":"blue"})"), R"({"tender":{"sail":"red"}})")
      << "anywhere in it";
  EXPECT_EQ(kept({"Anchors", "Speeds"}, R"({"anchor":true})", R"({"anchor":false})"), R"({"anchor":true})");
  EXPECT_EQ(kept({"Sails", "Anchors", "Speeds"}, R"({"anchor":true,"sail":"s"})", R"({"anchor":false})"), R"({"anchor":true})")
      << "each for itself";
}

TEST(GatedFields, ThatAreOneFeatureStayTogether) {
  EXPECT_EQ(kept({"Rowing", "Speeds"}, R"({"oars":[{"length":2}],"crew":{"a":{"bench":"b"}}})", R"({"oars":[{"length":1}]})"),
            R"({"oars":[{"length":2}],"crew":{"a":{"bench":"b"}}})");
}

TEST(GatedFields, TakeTheirHolderAlongWhenNothingIsLeft) {
  EXPECT_EQ(kept({"Engines", "Speeds"}, R"({"engine":{"fuel":"f"}})"), "{}");
  EXPECT_EQ(kept({"Engines", "Speeds"}, R"({"engine":{"fuel":"f","power":"p"}})"), R"({"engine":{"power":"p"}})");
  EXPECT_EQ(kept({"Engines", "Speeds"}, R"({"engine":{}})"), R"({"engine":{}})");
}

TEST(GatedFields, MayNeedTheirGateForSomeValuesOnly) {
  const Names off = {"FarHarbours", "Flags", "Speeds"};
  EXPECT_EQ(kept(off, R"({"harbour":{"name":"n"},"flag":"white"})"), R"({"harbour":{"name":"n"},"flag":"white"})");
  EXPECT_EQ(kept(off, R"({"harbour":{"name":"n","country":"c"},"flag":"black"})"), "{}");
  EXPECT_EQ(kept(off, R"({"harbour":{"country":"c"}})", R"({"harbour":{"name":"n"}})"), R"({"harbour":{"country":"c"}})");
  EXPECT_EQ(kept(off, R"({"harbour":{"country":"c"}})", R"({"port":"p"})"), R"({"harbour":{"country":"c"}})");
  EXPECT_EQ(kept(off, R"({"flag":"black"})", R"({"flag":"white"})"), "{}");
  EXPECT_EQ(kept(off, R"({"flag":"black"})", R"({"flag":"red"})"), R"({"flag":"black"})");
}

TEST(GatedFields, HaveADefaultWhileTheirGatesAreOn) {
  EXPECT_EQ(kept({"Sails"}, R"({"port":"p"})"), R"({"port":"p","speed":1})");
  EXPECT_EQ(kept({"Speeds"}, R"({"speed":3})"), "{}");
}

TEST(GatedFields, UnknownKeywordsAreReported) {
  const std::string_view wrong = R"({"definitions": {"a.B": {"type": "object", "properties": {
    "c": {"type": "string", "x-backplane-gate": {"gate": "G", "togther": true}}}}}})";
  const auto set = SchemaSet::compile(std::span(&wrong, 1));
  const Status status = set.ok() ? (*set)->check() : set.status();
  EXPECT_NE(status.message().find("\"togther\" is not a member of x-backplane-gate"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace backplane

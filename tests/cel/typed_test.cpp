// Expressions on trees that have a schema.
#include <gtest/gtest.h>

#include "run_support.hpp"

namespace backplane {
namespace {

// A widget's schema with all types that expressions distinguish.
constexpr std::string_view kSchema = R"({
  "type": "object",
  "properties": {
    "spec": {"type": "object", "properties": {
      "port": {"x-kubernetes-int-or-string": true},
      "when": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"},
      "wait": {"type": "string", "format": "duration"}, "data": {"type": "string", "format": "byte"},
      "ratio": {"type": "number"}, "count": {"type": "integer"},
      "maybe": {"type": "string", "nullable": true}, "never": {"type": "string"}, "texted": {"type": "string", "format": "int-or-string"},
      "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
      "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "number": {"type": "integer"}}}},
      "more": {"type": "array", "items": {"type": "integer"}},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "a.b-c": {"type": "string"}, "namespace": {"type": "string"}, "under__score": {"type": "string"},
      "loose": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "string"}}},
      "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
    }}
  }})";

constexpr std::string_view kObject = R"({
  "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"a": "b"}},
  "spec": {"port": "80%", "when": "2023-01-01T01:00:00+01:00", "day": "2023-01-02", "wait": "90m", "data": "aGk=", "ratio": 2, "count": 3,
           "maybe": null, "names": ["a", "b"], "ports": [{"name": "x", "number": 1}, {"name": "y", "number": 2}], "more": [1, 2],
           "labels": {"k": "v"}, "a.b-c": "dotted", "namespace": "ns", "under__score": "us", "loose": {"known": "k", "other": 1},
           "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": {}}}})";

std::string typed(std::string_view expression, std::string_view object = kObject) {
  cel::EnvironmentOptions options;
  options.version = 36;
  options.variables.push_back({"self", cel::declare(json::parse(kSchema).as_object(), true)});
  const cel::Compiled compiled = cel::Environment::make(std::move(options))->compile(expression);
  if (compiled.program == nullptr) return compiled.problems.substr(0, compiled.problems.find('\n'));
  const Value tree = json::parse(object);
  const cel::Binding binding{"self", &tree};
  cel::Budget budget;
  const cel::Outcome outcome = cel::run(*compiled.program, {&binding, 1}, budget);
  return outcome.end == cel::Outcome::End::kValue ? to_json(outcome.value) : "error: " + outcome.message;
}

TEST(CelTyped, FormatsMakeTypes) {
  EXPECT_EQ(typed("self.spec.when == timestamp('2023-01-01T00:00:00Z')"), "true");
  EXPECT_EQ(typed("self.spec.when < self.spec.day"), "true");
  EXPECT_EQ(typed("self.spec.wait == duration('1h30m')"), "true");
  EXPECT_EQ(typed("self.spec.data == b'hi'"), "true");
  EXPECT_EQ(typed("type(self.spec.ratio) == double && self.spec.ratio == 2.0"), "true");
  EXPECT_EQ(typed("self.spec.when == timestamp('2023-01-01T01:00:00Z')", R"({"spec": {"when": "2023-01-01T01:00:00"}})"), "true");
}

TEST(CelTyped, InvalidTimesHaveTheErrorsOfGosParser) {
  const auto result_of = [](std::string_view member, std::string_view value) {
    return typed("[self.spec." + std::string(member) + "]",
                 R"({"spec": {")" + std::string(member) + R"(": ")" + std::string(value) + "\"}}");
  };
  EXPECT_EQ(result_of("when", "soon"),
            "error: Invalid date-time formatted string soon: parsing time \"soon\" as \"2006-01-02T15:04:05\": cannot parse \"soon\" as "
            "\"2006\"");
  EXPECT_EQ(result_of("day", "soon"),
            "error: Invalid date formatted string soon: parsing time \"soon\" as \"2006-01-02\": cannot parse \"soon\" as \"2006\"");
  EXPECT_EQ(result_of("day", "2020-13-01"),
            "error: Invalid date formatted string 2020-13-01: parsing time \"2020-13-01\": month out of range");
  EXPECT_EQ(result_of("day", "2020-01-01T"),
            "error: Invalid date formatted string 2020-01-01T: parsing time \"2020-01-01T\": extra text: \"T\"");
  EXPECT_EQ(result_of("data", "a+b/"), "error: Invalid byte formatted string a+b/: illegal base64 data at input byte 1");
  EXPECT_EQ(typed("self.spec.data == b'\\xfb\\xff'", R"({"spec": {"data": "-_8="}})"), "true");
}

// In the schemas of built-in kinds, such a format changes the type; in a custom resource, the member has the type of its schema.
TEST(CelTyped, TheFormatIntOrStringSaysNothingOfACustomResource) {
  EXPECT_EQ(typed("self.spec.texted + 'x'", R"({"spec": {"texted": "a"}})"), "\"ax\"");
  EXPECT_EQ(typed("self.spec.texted + 1").substr(0, 44), "ERROR: <input>:1:18: found no matching overl");
}

TEST(CelTyped, IntOrStringHasTheTypeOfItsValue) {
  EXPECT_EQ(typed("type(self.spec.port) == string && self.spec.port.endsWith('%')"), "true");
  EXPECT_EQ(typed("type(self.spec.port) == int && self.spec.port == 8", R"({"spec": {"port": 8}})"), "true");
  EXPECT_EQ(typed("self.spec.port == 8", R"({"spec": {"port": true}})"),
            "error: invalid data, expected XIntOrString value to be either a string or integer");
}

TEST(CelTyped, NamesAreEscaped) {
  EXPECT_EQ(
      typed("self.spec.a__dot__b__dash__c == 'dotted' && self.spec.__namespace__ == 'ns' && self.spec.under__underscores__score == 'us'"),
      "true");
  EXPECT_EQ(typed("self.spec.namespace == 'ns' && has(self.spec.namespace)"), "true");
}

TEST(CelTyped, NullInAnObjectIsAbsence) {
  EXPECT_EQ(typed("has(self.spec.maybe)"), "false");
  EXPECT_EQ(typed("self.spec.maybe"), "error: no such key: maybe");
  EXPECT_EQ(typed("has(self.spec.never)"), "false");
  EXPECT_EQ(typed("self.spec.more[0] == 1", R"({"spec": {"more": [null]}})"),
            "error: invalid data, got null for schema with nullable=false");
}

TEST(CelTyped, SetsAndMapListsHaveNoOrder) {
  EXPECT_EQ(typed("self.spec.names == ['b', 'a']"), "true");
  EXPECT_EQ(typed("['b', 'a'] == self.spec.names"), "false");
  EXPECT_EQ(typed("self.spec.names + ['b', 'c']"), R"(["a","b","c"])");
  EXPECT_EQ(typed("self.spec.ports + self.spec.ports == self.spec.ports"), "true");
  EXPECT_EQ(typed("(self.spec.ports + [self.spec.ports[1]]).size()"), "2");
  EXPECT_EQ(typed("self.spec.more + self.spec.more"), "[1,2,1,2]");
  EXPECT_EQ(typed("self.spec.more == [1, 2] && self.spec.more != [2, 1]"), "true");
}

TEST(CelTyped, AResourceShowsItsNameAndKind) {
  EXPECT_EQ(typed("self.apiVersion + self.kind + self.metadata.name"), R"("example.com/v1Widgetw")");
  EXPECT_EQ(typed("self.spec.pod.kind + self.spec.pod.metadata.name"), R"("Podp")");
  EXPECT_EQ(typed("self.metadata.labels"), "ERROR: <input>:1:14: undefined field 'labels'");
  EXPECT_EQ(typed("self.spec.pod.metadata.namespace"), "ERROR: <input>:1:23: undefined field 'namespace'");
}

TEST(CelTyped, UnknownFieldsAreCompared) {
  EXPECT_EQ(typed("self.spec.loose.known"), R"("k")");
  EXPECT_EQ(typed("self.spec.loose.other"), "ERROR: <input>:1:16: undefined field 'other'");
  EXPECT_EQ(typed("self.spec.loose == self.spec.loose"), "true");
}

TEST(CelTyped, MapsHaveTheirOwnKeys) {
  EXPECT_EQ(typed("self.spec.labels.all(k, self.spec.labels[k] == 'v') && 'k' in self.spec.labels && !('x' in self.spec.labels)"), "true");
  EXPECT_EQ(typed("self.spec.labels['x']"), "error: no such key: x");
  EXPECT_EQ(typed("self.spec.labels == {'k': 'v'}"), "true");
}

}  // namespace
}  // namespace backplane

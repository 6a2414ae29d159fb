// Types of expressions and their problems; the expected texts are kube-apiserver 1.36's.
#include <gtest/gtest.h>

#include "backplane/types/cel.hpp"
#include "cel/types.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kSchema = R"({
  "type": "object", "required": ["name", "spec"],
  "properties": {
    "name": {"type": "string"},
    "count": {"type": "integer"},
    "ratio": {"type": "number"},
    "port": {"x-kubernetes-int-or-string": true},
    "since": {"type": "string", "format": "date-time"},
    "every": {"type": "string", "format": "duration"},
    "blob": {"type": "string", "format": "byte"},
    "raw": {"x-kubernetes-preserve-unknown-fields": true},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "items": {"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string"}}}},
    "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
    "spec": {"type": "object", "properties": {
      "namespace": {"type": "string"}, "a.b-c/d": {"type": "integer"}, "x__y": {"type": "boolean"}, "1st": {"type": "string"}}}
  }})";

cel::EnvironmentOptions options(unsigned version) {
  const Value schema = json::parse(json::string_view(kSchema.data(), kSchema.size()));
  const cel::TypeRef type = cel::declare(schema.get_object(), true);
  cel::EnvironmentOptions out;
  out.version = version;
  out.variables = {{"self", type, "selfType1"}, {"oldSelf", cel::optional_type(type), "selfType1"}, {"any", cel::named_type("dyn")}};
  return out;
}

// The type of the result, or the first line of the problems.
std::string result_of(std::string_view expression, unsigned version = 35) {
  const cel::Compiled compiled = cel::Environment::make(options(version))->compile(expression);
  return compiled.program != nullptr ? compiled.program->result_type() : compiled.problems.substr(0, compiled.problems.find('\n'));
}

struct Row {
  std::string_view expression;
  std::string_view result;
};

TEST(Checker, FindsTypesAsTheyAreDeclared) {
  constexpr Row kRows[] = {
      {"self", "selfType1"},
      {"self.spec", "selfType1.spec"},
      {"self.name", "string"},
      {"self.count", "int"},
      {"self.ratio", "double"},
      {"self.port", "dyn"},
      {"self.since", "timestamp"},
      {"self.every", "duration"},
      {"self.blob", "bytes"},
      {"self.labels", "map(string, string)"},
      {"self.items", "list(selfType1.items.@idx)"},
      {"self.items[0].key", "string"},
      {"self.metadata.name", "string"},
      {"self.apiVersion", "string"},
      {"self.template.metadata.generateName", "string"},
      {"self.spec.__namespace__", "string"},
      {"self.spec.namespace", "string"},
      {"self.spec.a__dot__b__dash__c__slash__d", "int"},
      {"self.spec.x__underscores__y", "bool"},
      {"self.?count", "optional_type(int)"},
      {"self.items[?0].?key.orValue('')", "string"},
      {"oldSelf.optMap(o, o.count)", "optional_type(int)"},
      {"oldSelf.spec.namespace", "optional_type(string)"},
  };
  for (const Row& row : kRows) EXPECT_EQ(result_of(row.expression), row.result) << row.expression;
}

TEST(Checker, ReportsFieldsThatNoSchemaHas) {
  constexpr Row kRows[] = {
      {"self.nope", "ERROR: <input>:1:5: undefined field 'nope'"},
      {"self.raw", "ERROR: <input>:1:5: undefined field 'raw'"},
      {"self.metadata.labels", "ERROR: <input>:1:14: undefined field 'labels'"},
      {"self.items[0].nope", "ERROR: <input>:1:14: undefined field 'nope'"},
      {"self.name.x", "ERROR: <input>:1:10: type 'string' does not support field selection"},
      {"has(self.name.x)", "ERROR: <input>:1:4: type 'string' does not support field selection"},
      {"nope", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')"},
      {"self.all(x, true)",
       "ERROR: <input>:1:1: expression of type 'selfType1' cannot be range of a comprehension (must be list, map, or dynamic)"},
      {"self.name + self.count", "ERROR: <input>:1:11: found no matching overload for '_+_' applied to '(string, int)'"},
      {"self.spec + 1", "ERROR: <input>:1:11: found no matching overload for '_+_' applied to '(selfType1.spec, int)'"},
      {"self.name.startsWith(1)", "ERROR: <input>:1:21: found no matching overload for 'startsWith' applied to 'string.(int)'"},
      {"self.name.nope()", "ERROR: <input>:1:15: undeclared reference to 'nope' (in container '')"},
      {"self.name ? 1 : 2", "ERROR: <input>:1:11: found no matching overload for '_?_:_' applied to '(string, int, int)'"},
      {"self.name && true", "ERROR: <input>:1:5: expected type 'bool' but found 'string'"},
      {"[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'"},
      {"{'a': 1, 'b': 'c'}", "ERROR: <input>:1:15: expected type 'int' but found 'string'"},
      {"[?self.count]", "ERROR: <input>:1:7: expected type 'optional_type(int)' but found 'int'"},
      {"google.protobuf.Int32Value{value: 'a'}",
       "ERROR: <input>:1:33: expected type of field 'value' is 'int' but provided type is 'string'"},
      {"int{}", "ERROR: <input>:1:4: 'int' is not a message type"},
      {"quantity('1').x", "ERROR: <input>:1:14: unexpected failed resolution of 'kubernetes.Quantity'"},
      {"duration('1x')", "ERROR: <input>:1:10: invalid duration argument"},
      {"timestamp('now')", "ERROR: <input>:1:11: invalid timestamp argument"},
      {"self.name.matches('(')", "ERROR: <input>:1:19: invalid matches argument"},
      {"'%d'.format(['a'])", "ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string"},
      {"'%s'.format([1, 2])", "ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)"},
      {"'%s %s'.format([1])", "ERROR: <input>:1:15: index 1 out of range"},
      {"'%y'.format([1])", "ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause \"y\""},
  };
  for (const Row& row : kRows) EXPECT_EQ(result_of(row.expression), row.result) << row.expression;
}

TEST(Checker, InfersTypesOfLiteralsAndLoops) {
  constexpr Row kRows[] = {
      {"[]", "list(dyn)"},
      {"{}", "map(dyn, dyn)"},
      {"[any, any.x]", "list(dyn)"},
      {"[[], [1]]", "list(list(int))"},
      {"self.items.map(i, i.key)", "list(string)"},
      {"self.items.map(i, i.key != '', size(i.key))", "list(int)"},
      {"self.labels.map(k, self.labels[k])", "list(string)"},
      {"self.labels.transformMap(k, v, size(v))", "map(string, int)"},
      {"self.labels.transformList(k, v, k + v)", "list(string)"},
      {"[3, 1].sortBy(x, -x)", "list(int)"},
      {"any.x[0].y", "dyn"},
      {"any + 1", "int"},
      {"any == 'a' ? 1 : 2", "int"},
      {"type(self.name)", "type(string)"},
      {"type(self.name) == string", "bool"},
      {"self.name.split(',').join('-').find('a+')", "string"},
      {"optional.none()", "optional_type(dyn)"},
      {"google.protobuf.Int32Value{value: 1}", "wrapper(int)"},
      {"format.named('dns1123Label')", "optional_type(kubernetes.NamedFormat)"},
      {"cidr('10.0.0.0/8').ip().family()", "int"},
      {"'%s %d'.format([self.name, 1])", "string"},
  };
  for (const Row& row : kRows) EXPECT_EQ(result_of(row.expression), row.result) << row.expression;
}

TEST(Checker, KnowsWhatEachVersionHas) {
  struct Since {
    std::string_view expression;
    unsigned version;
  };
  constexpr Since kSince[] = {
      {"self.?name", 28},
      {"1 < 1.5", 28},
      {"quantity('1')", 28},
      {"'%d'.format([1])", 29},
      {"sets.contains([1], [1])", 29},
      {"ip('1.2.3.4')", 30},
      {"format.uuid()", 31},
      {"self.spec.namespace", 31},
      {"self.labels.all(k, v, k == v)", 32},
      {"semver('1.2.3')", 33},
      {"[2, 1].sort()", 34},
  };
  for (const Since& each : kSince) {
    EXPECT_TRUE(result_of(each.expression, each.version - 1).starts_with("ERROR")) << each.expression;
    EXPECT_FALSE(result_of(each.expression, each.version).starts_with("ERROR")) << each.expression;
  }
  EXPECT_TRUE(result_of("duration('1x')", 28).starts_with("program instantiation failed: ")) << "no rule on texts of durations yet";
  EXPECT_TRUE(result_of("cel.bind(x, 1, x)").starts_with("ERROR"));
  EXPECT_TRUE(result_of("'a'.reverse()").starts_with("ERROR"));
}

TEST(Checker, StoredExpressionsHaveWhatAnyVersionHas) {
  cel::EnvironmentOptions stored = options(20);
  stored.stored = true;
  EXPECT_NE(cel::Environment::make(stored)->compile("semver('1.2.3').major() == 1 && [1].sort() == [1]").program, nullptr);
}

TEST(Checker, ReportsProblemsInTheOrderOfTheText) {
  const cel::Compiled compiled = cel::Environment::make(options(35))->compile("self.nope == 1 &&\n nope.x < self.name + 1");
  EXPECT_EQ(compiled.problems,
            "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1 &&\n | ....^\n"
            "ERROR: <input>:2:2: undeclared reference to 'nope' (in container '')\n |  nope.x < self.name + 1\n | .^\n"
            "ERROR: <input>:2:21: found no matching overload for '_+_' applied to '(string, int)'\n"
            " |  nope.x < self.name + 1\n | ....................^");
}

TEST(Programs, SayWhatTheyUse) {
  const auto environment = cel::Environment::make(options(35));
  EXPECT_TRUE(environment->compile("self == oldSelf.value()").program->uses("oldSelf"));
  EXPECT_FALSE(environment->compile("[1].all(oldSelf, oldSelf == self.count)").program == nullptr);
  EXPECT_FALSE(environment->compile("self.count == 1").program->uses("oldSelf"));
}

TEST(Names, AreEscapedAndBack) {
  struct Pair {
    std::string_view name;
    std::string_view written;
  };
  constexpr Pair kPairs[] = {{"a", "a"},       {"a.b", "a__dot__b"}, {"a-b/c", "a__dash__b__slash__c"}, {"a__b", "a__underscores__b"},
                             {"if", "__if__"}, {"true", "__true__"}, {"namespace", "__namespace__"},    {"_a", "_a"},
                             {"a_b", "a_b"},   {"iff", "iff"}};
  for (const Pair& each : kPairs) {
    EXPECT_EQ(cel::escape(each.name), each.written);
    EXPECT_EQ(cel::unescape(each.written), each.name);
  }
  for (const std::string_view bad : {"", "1a", "a b", "a$"}) EXPECT_EQ(cel::escape(bad), "") << bad;
  for (const std::string_view bad : {"__nope__", "a__if__"}) EXPECT_EQ(cel::unescape(bad), "") << bad;
}

TEST(Overloads, AreATableThatHoldsTogether) {
  for (const Overload& each : overloads()) {
    EXPECT_EQ(overloads()[each.index].id, each.id);
    EXPECT_EQ(find_overload(each.id), &each) << each.id;
    EXPECT_TRUE(!each.receiver || !each.arguments.empty()) << each.id;
    bool among = false;
    for (const Overload& other : overloads_of(each.function)) among = among || &other == &each;
    EXPECT_TRUE(among) << each.id;
  }
  EXPECT_EQ(overloads_of("nope").size(), 0u);
  EXPECT_EQ(find_overload("nope"), nullptr);
}

}  // namespace
}  // namespace backplane::cel_detail

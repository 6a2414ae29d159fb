// Estimated costs of expressions; the numbers are kube-apiserver 1.36's.
#include <gtest/gtest.h>

#include "backplane/types/cel.hpp"
#include "cel/types.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kSchema = R"({
  "type": "object", "required": ["name", "spec"],
  "properties": {
    "name": {"type": "string"},
    "short": {"type": "string", "maxLength": 10},
    "mode": {"type": "string", "enum": ["on", "sleeping"]},
    "count": {"type": "integer"},
    "port": {"x-kubernetes-int-or-string": true, "maxLength": 5},
    "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}},
    "few": {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 3}},
    "many": {"type": "array", "items": {"type": "object", "required": ["key"], "properties": {
      "key": {"type": "string", "maxLength": 20}, "values": {"type": "array", "items": {"type": "string", "maxLength": 3}}}}},
    "spec": {"type": "object", "properties": {"since": {"type": "string", "format": "date-time"}}}
  }})";

cel::TypeRef declared() {
  const Value schema = json::parse(json::string_view(kSchema.data(), kSchema.size()));
  return cel::declare(schema.get_object(), false);
}

cel::Cost cost(std::string_view expression) {
  cel::EnvironmentOptions options;
  options.variables = {{"self", declared(), "selfType1"}, {"oldSelf", declared(), "selfType1"}};
  const cel::Compiled compiled = cel::Environment::make(options)->compile(expression);
  EXPECT_NE(compiled.program, nullptr) << compiled.problems;
  return compiled.program == nullptr ? cel::Cost{} : compiled.program->cost();
}

TEST(Costs, AreUpstreamsNumbers) {
  struct Row {
    std::string_view expression;
    std::uint64_t min;
    std::uint64_t max;
  };
  constexpr Row kRows[] = {
      {"true", 0u, 0u},
      {"self.count == 1", 2u, 2u},
      {"self.name == 'abc'", 3u, 3u},
      {"self.name == oldSelf.name", 5u, 314577u},
      {"self.short == self.mode", 5u, 5u},
      {"self.name.contains(self.short)", 4u, 1258296u},
      {"self.short.startsWith('a')", 3u, 3u},
      {"self.name.matches('^[a-z]+$')", 4u, 629148u},
      {"self.name.matches(self.short)", 4u, 3145734u},
      {"size(self.many) < 3", 4u, 4u},
      {"has(self.spec.since)", 2u, 2u},
      {"has(self.labels) && self.labels.size() > 1", 1u, 5u},
      {"self.few.all(x, x == 'a')", 3u, 23u},
      {"self.many.all(x, x.key.contains('a'))", 3u, 3407862u},
      {"self.many.exists(x, x.values.exists(v, v == 'a'))", 3u, 1649261412354u},
      {"self.many.all(x, x.values.all(v, v.contains(x.key)))", 3u, 462944541u},
      {"self.labels.all(k, k.matches('a') && self.labels[k] == 'b')", 3u, 3932153u},
      {"self.labels.all(k, v, k != v)", 3u, 1966078u},
      {"self.many.map(x, x.key).join(',').size() < 5", 15u, 1844674407374625281u},
      {"self.few.map(x, x + self.short)[0] == 'a'", 15u, 99u},
      {"self.few + self.few == self.few", 8u, 8u},
      {"self.few.filter(x, x != '').size() == 1", 15u, 71u},
      {"self.many[0].key == self.few[0]", 8u, 9u},
      {"self.short + self.name == ''", 4u, 314581u},
      {"self.short.replace('a', 'bcd').size() < 3", 4u, 12u},
      {"self.name.split(',').size() < 3", 4u, 629150u},
      {"self.few.isSorted()", 2u, 14u},
      {"self.name.find('a') == self.short.lowerAscii()", 6u, 314585u},
      {"'a' in self.few && self.name in self.labels", 2u, 11u},
      {"self.count > 0 ? self.name == 'a' : self.short == 'b'", 6u, 6u},
      {"type(self.port) == int ? self.port > 1 : self.port == 'a'", 7u, 7u},
      {"quantity(self.short).isGreaterThan(quantity('1'))", 4u, 8u},
      {"isIP(self.name) && ip(self.name) == ip('1.2.3.4')", 2u, 629152u},
      {"cidr(self.short).containsIP(self.name)", 5u, 314585u},
      {"url(self.name).getHost() == 'a'", 4u, 314577u},
      {"sets.contains(self.few, ['a', 'b'])", 13u, 21u},
      {"self.few.distinct().size() == self.few.size()", 18u, 50u},
      {"self.few.sort() == self.few", 16u, 50u},
      {"self.many.transformMap(i, x, x.key).size() > 1", 35u, 1310750u},
      {"self.many.sortBy(x, x.key)[0].key == 'a'", 39u, 144313470184u},
      {"[1, 2, 3].map(i, i * 2).exists(i, i == 4)", 76u, 79u},
      {"{'a': self.short}['a'] == 'b'", 34u, 34u},
      {"self.?spec.?since.orValue(timestamp('2020-01-01T00:00:00Z')).getHours() == 1", 7u, 7u},
      {"self.?short.optMap(s, s + 'a').orValue('') == 'b'", 6u, 1844674407370955284u},
      {"'%s'.format([self.name]) == 'a'", 14u, 14u},
      {"format.dns1123Label().validate(self.short).hasValue()", 4u, 132u},
      {"string(bytes(self.short)) == 'a'", 3u, 23u},
      {"dyn(self.few) == ['a']", 14u, 14u},
      {"[self.name, self.short].all(x, x.contains('a'))", 21u, 23u},
      {"self.few == oldSelf.few || self.count == 1 && self.short == 'a'", 5u, 10u},
  };
  for (const Row& row : kRows) {
    const cel::Cost found = cost(row.expression);
    EXPECT_EQ(found.min, row.min) << row.expression;
    EXPECT_EQ(found.max, row.max) << row.expression;
  }
}

TEST(Costs, GrowWithWhatFitsIntoARequest) {
  const cel::TypeRef type = declared();
  EXPECT_EQ(cel::max_cardinality(*type), 136770u);
  EXPECT_EQ(cel::property_of(type, "few")->max_elements, 4);
  EXPECT_EQ(cel::property_of(type, "short")->max_elements, 40);
  EXPECT_EQ(cel::property_of(type, "mode")->max_elements, 8);
  EXPECT_EQ(cel::property_of(type, "port")->max_elements, 20);
  EXPECT_EQ(cel::property_of(type, "name")->max_elements, 3 * 1024 * 1024 - 2);
  EXPECT_EQ(cel::items_of(cel::property_of(type, "many"))->min_size, 11);
  EXPECT_EQ(cel::property_of(type, "many")->max_elements, (3 * 1024 * 1024 - 2) / 12);
  EXPECT_EQ(cel::property_of(type, "nope"), nullptr);
}

TEST(Costs, StopAtTheLargestNumber) {
  std::string nested = "true";
  for (int i = 0; i < 8; ++i) nested = "self.many.all(x" + std::to_string(i) + ", " + nested + ")";
  EXPECT_EQ(cost(nested).max, ~std::uint64_t{0});
}

TEST(Declared, SchemasThatGoInCirclesEnd) {
  const Value circle = json::parse(R"({"type": "object", "properties": {"child": {"$ref": "#/x"}, "name": {"type": "string"}}})");
  const cel::TypeRef type = cel::declare(circle.get_object(), false, [&](std::string_view) { return &circle.get_object(); });
  ASSERT_NE(type, nullptr);
  EXPECT_NE(cel::property_of(cel::property_of(type, "child"), "name"), nullptr);
}

TEST(Declared, SchemasWithoutATypeAreNotDeclared) {
  const auto declare = [](std::string_view text) {
    const Value schema = json::parse(json::string_view(text.data(), text.size()));
    return cel::declare(schema.get_object(), false);
  };
  EXPECT_EQ(declare("{}"), nullptr);
  EXPECT_EQ(declare(R"({"type": "array"})"), nullptr);
  EXPECT_EQ(declare(R"({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}})"), nullptr);
  EXPECT_EQ(declare(R"({"type": "object", "additionalProperties": {}})"), nullptr);
  EXPECT_EQ(declare(R"({"type": "nope"})"), nullptr);
  EXPECT_TRUE(declare(R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})")->preserves_unknown);
}

}  // namespace
}  // namespace backplane::cel_detail

// Checks that the schema documents of the built-in groups are complete, equal upstream's OpenAPI documents, and decode objects as
// kube-apiserver does.
//
// openapi_components.json has the components of a 1.36 server's OpenAPI v3 documents, without descriptions. decode_errors.json has the
// smallest body for each recorded decoding error. objects.json has recorded responses.
#include <gtest/gtest.h>

#include <algorithm>

#include "apiextensions_v1_json.hpp"
#include "apiregistration_v1_json.hpp"
#include "apps_v1_json.hpp"
#include "autoscaling_v1_json.hpp"
#include "autoscaling_v2_json.hpp"
#include "backplane/types/schema.hpp"
#include "core_v1_json.hpp"
#include "decode_errors_json.hpp"
#include "events_v1_json.hpp"
#include "objects_json.hpp"
#include "openapi_components_json.hpp"

namespace backplane {
namespace {

const SchemaSet& documents() {
  static const auto set = [] {
    const std::string_view texts[] = {core_v1_json(),        apps_v1_json(),        apiextensions_v1_json(), apiregistration_v1_json(),
                                      autoscaling_v1_json(), autoscaling_v2_json(), events_v1_json()};
    auto made = SchemaSet::embedded(texts);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }();
  return *set;
}

Value parsed(std::string_view text) {
  auto value = parse_json(text, {}, nullptr);
  EXPECT_TRUE(value.ok()) << value.status().message();
  return std::move(*value);
}

const Schema* schema_of(const Object& object) {
  const GroupVersion gv = GroupVersion::parse(get_string(object, "apiVersion"));
  return documents().find(GroupVersionKind{gv.group, gv.version, std::string(get_string(object, "kind"))});
}

void drop_descriptions(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) drop_descriptions(item);
  } else if (value.is_object()) {
    const Value* description = find(value.get_object(), "description");
    if (description && description->is_string()) erase_member(value.get_object(), "description");
    for (auto& member : value.get_object()) drop_descriptions(member.value());
  }
}

// The value with its members in reverse order at every level; normalize() must restore the canonical order.
Value reversed(const Value& value) {
  if (value.is_array()) {
    Array out;
    for (const Value& item : value.get_array()) out.push_back(reversed(item));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<const json::key_value_pair*> members;
  for (const auto& member : value.get_object()) members.push_back(&member);
  Object out;
  for (auto member = members.rbegin(); member != members.rend(); ++member) out.emplace((*member)->key(), reversed((*member)->value()));
  return out;
}

TEST(SchemaDocuments, AreWellFormed) {
  const Status status = documents().check();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(SchemaDocuments, GiveUpstreamsOpenApiComponents) {
  const Value expected = parsed(openapi_components_json());
  Object components;
  for (const auto& [name, schema] : expected.get_object()) documents().openapi_components(name, components);
  EXPECT_EQ(components.size(), expected.get_object().size());
  for (const auto& [name, schema] : expected.get_object()) {
    Value* ours = find(components, name);
    ASSERT_NE(ours, nullptr) << name;
    drop_descriptions(*ours);
    EXPECT_EQ(*ours, schema) << name << "\n" << to_json(*ours) << "\n" << to_json(schema);
  }
}

TEST(SchemaDocuments, DescribeEveryKind) {
  for (const GroupVersionKind& kind : documents().kinds()) {
    const Schema* schema = documents().find(kind);
    Object components;
    documents().openapi_components(schema->name(), components);
    EXPECT_NE(get_string(components.at(schema->name()).as_object(), "description"), "") << schema->name();
  }
}

TEST(SchemaDocuments, DecodeErrorsAreTheRecordedOnes) {
  const Value rows = parsed(decode_errors_json());
  ASSERT_GT(rows.get_array().size(), 100u);
  for (const Value& row : rows.get_array()) {
    const Array& columns = row.as_array();
    const Object names{{"apiVersion", columns[0]}, {"kind", columns[1]}};
    const Schema* schema = schema_of(names);
    ASSERT_NE(schema, nullptr) << to_json(row);
    Value body = columns[2];
    EXPECT_EQ(schema->normalize(body, nullptr).message(), std::string(std::string_view(columns[3].as_string()))) << to_json(columns[2]);
  }
}

TEST(SchemaDocuments, ObjectsComeOutAsRecordedWhateverTheOrderOfTheirMembers) {
  const Value objects = parsed(objects_json());
  ASSERT_GT(objects.get_array().size(), 20u);
  for (const Value& object : objects.get_array()) {
    const Schema* schema = schema_of(object.as_object());
    ASSERT_NE(schema, nullptr) << to_json(object);
    for (Value shuffled : {object, reversed(object)}) {
      DecodeReport report;
      const Status status = schema->normalize(shuffled, &report);
      ASSERT_TRUE(status.ok()) << status.message() << "\n" << to_json(object);
      EXPECT_EQ(to_json(shuffled), to_json(object));
      EXPECT_TRUE(report.problems.empty()) << report.problems.front();
    }
  }
}

TEST(SchemaDocuments, ObjectsSurviveYaml) {
  const Value objects = parsed(objects_json());
  for (const Value& object : objects.get_array()) {
    auto back = parse_yaml(to_yaml(object), {}, nullptr);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, object);
  }
}

}  // namespace
}  // namespace backplane

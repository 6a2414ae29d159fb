#include "common/label_selectors.hpp"

#include <gtest/gtest.h>

namespace backplane::admission {
namespace {

TEST(LabelSelections, CompareLabels) {
  const auto selected = [](std::string_view selector, std::string_view labels) {
    const auto parsed = label_selector_of(json::parse(selector).get_object());
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    return selects_labels(*parsed, json::parse(labels).if_object());
  };
  EXPECT_TRUE(selected("{}", "null"));
  EXPECT_TRUE(selected(R"({"matchLabels":{"a":"b","c":""}})", R"({"c":"","a":"b"})"));
  EXPECT_FALSE(selected(R"({"matchLabels":{"a":"b"}})", R"({"a":"c"})"));
  const auto expression = [](std::string_view text) { return R"({"matchExpressions":[)" + std::string(text) + "]}"; };
  EXPECT_TRUE(selected(expression(R"({"key":"a","operator":"In","values":["b","c"]})"), R"({"a":"c"})"));
  EXPECT_FALSE(selected(expression(R"({"key":"a","operator":"In","values":["b","c"]})"), "{}"));
  EXPECT_TRUE(selected(expression(R"({"key":"a","operator":"NotIn","values":["b"]})"), "{}"));
  EXPECT_FALSE(selected(expression(R"({"key":"a","operator":"Exists"})"), "null"));
  EXPECT_TRUE(selected(expression(R"({"key":"a","operator":"DoesNotExist"})"), R"({"b":"a"})"));
}

TEST(ObjectSelections, SeeBothObjectsButNoOptionsOfConnect) {
  const Value labelled = json::parse(R"({"metadata":{"labels":{"a":"b"}}})"), bare = json::parse(R"({"command":["ls"]})");
  const LabelSelector everything, labels = *LabelSelector::parse("a=b"), missing = *LabelSelector::parse("!a");
  AdmissionAttributes attributes;
  attributes.operation = AdmissionOperation::kUpdate;
  attributes.old_object = &labelled.get_object();
  EXPECT_TRUE(selects_object(labels, attributes, &bare.get_object()));
  EXPECT_TRUE(selects_object(missing, attributes, &bare.get_object()));
  EXPECT_FALSE(selects_object(missing, attributes, nullptr));
  attributes.operation = AdmissionOperation::kConnect;
  attributes.old_object = nullptr;
  EXPECT_FALSE(selects_object(missing, attributes, &bare.get_object()));
  EXPECT_TRUE(selects_object(everything, attributes, &bare.get_object()));
}

}  // namespace
}  // namespace backplane::admission

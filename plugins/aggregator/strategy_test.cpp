#include "strategy.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

std::string problems_of(std::string_view text) {
  const Object object = json::parse(json::string_view(text.data(), text.size())).get_object();
  RequestContext context;
  FieldErrors errors;
  make_apiservice_strategy()->validate(context, object, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(ApiServices, AreNamedAfterTheirVersionAndGroup) {
  constexpr std::string_view kSpec = R"("spec":{"group":"a.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1}})";
  EXPECT_EQ(problems_of(R"({"metadata":{"name":"v1.a.io"},)" + std::string(kSpec)), "");
  EXPECT_EQ(problems_of(R"({"metadata":{"name":"v2.a.io"},)" + std::string(kSpec)),
            "metadata.name: Invalid value: \"v2.a.io\": must be `spec.version+\".\"+spec.group`: \"v1.a.io\"");
  EXPECT_EQ(problems_of(R"({"metadata":{"name":"v1.a.io","generateName":"x"},)" + std::string(kSpec)),
            "metadata.generateName: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: \"v1.a.io\"");
  EXPECT_EQ(problems_of(R"({"metadata":{},)" + std::string(kSpec)), "") << "that a name is required is said for every kind";
}

// Regression: the message had the length of the base64 text, without quotes.
TEST(ApiServices, TheErrorOfALocalServicesBundleShowsBytes) {
  EXPECT_EQ(problems_of(R"({"metadata":{"name":"v1.a.io"},"spec":{"group":"a.io","version":"v1","caBundle":"Zm9vYg=="}})"),
            R"(spec.caBundle: Invalid value: "4 bytes": local APIServices may not have a caBundle)");
}

TEST(ApiServices, OfThisServerAreThereFromTheBeginning) {
  const auto status_of = [](std::string_view spec) {
    Object object = json::parse(json::string_view(spec.data(), spec.size())).get_object();
    RequestContext context;
    make_apiservice_strategy()->prepare_for_create(context, object);
    const Value* conditions = find_path(object, "status.conditions");
    return conditions == nullptr ? std::string() : std::string(get_string(conditions->at(0).get_object(), "reason"));
  };
  EXPECT_EQ(status_of(R"({"spec":{"group":"a.io","version":"v1"}})"), "Local");
  EXPECT_EQ(status_of(R"({"spec":{"group":"a.io","version":"v1","service":{"name":"s","namespace":"n"}}})"), "");
}

}  // namespace
}  // namespace backplane

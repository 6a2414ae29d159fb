#include "policies/match_resources.hpp"

#include <gtest/gtest.h>

namespace backplane::admission::policies {
namespace {

MatchResources matching(const std::string& rules, const std::string& more = R"("matchPolicy":"Equivalent")") {
  return read_match_resources(
      json::parse(R"({"namespaceSelector":{},"objectSelector":{},"resourceRules":)" + rules + "," + more + "}").get_object());
}

std::string rule(const std::string& groups, const std::string& versions, const std::string& resources, const std::string& more = {}) {
  return R"([{"operations":["*"],"apiGroups":[)" + groups + R"(],"apiVersions":[)" + versions + R"(],"resources":[)" + resources + "]" +
         more + "}]";
}

const WrittenResource kScale{{"apps", "v1", "deployments"},
                             "scale",
                             {{{"apps", "v1beta1", "deployments"}, {"autoscaling", "v1", "Scale"}},
                              {{"extensions", "v1beta1", "deployments"}, {"extensions", "v1beta1", "Scale"}}}};

// The version under which the rules name a write of deployments/scale; "": the version of the write; "-": the rules do not match.
std::string named_as(const MatchResources& match) {
  const ResolvedMatch resolved = resolve(&match, kScale);
  AdmissionAttributes attributes;
  attributes.operation = AdmissionOperation::kUpdate;
  attributes.resource = kScale.resource;
  attributes.subresource = "scale";
  attributes.ns = "ns";
  attributes.name = "web";
  const ResolvedRule* found = find_rule(resolved.rules, attributes);
  if (found == nullptr) return "-";
  return found->as == nullptr ? "" : found->as->resource.group + "/" + found->as->resource.version;
}

TEST(MatchResources, NameResources) {
  EXPECT_EQ(named_as(matching(rule(R"("apps")", R"("v1")", R"("deployments/scale")"))), "");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/*")"))), "");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("deployments/*")"))), "");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/scale")"))), "");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("deployments")"))), "-");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*")"))), "-");
}

TEST(MatchResources, NameEquivalentsUnlessExact) {
  const std::string rules = rule(R"("extensions","apps")", R"("v1beta1")", R"("deployments/scale")");
  EXPECT_EQ(named_as(matching(rules)), "apps/v1beta1");
  EXPECT_EQ(named_as(matching(rules, R"("matchPolicy":"Exact")")), "-");
}

TEST(MatchResources, LimitNamesAndScopes) {
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/*")", R"(,"resourceNames":["other"])"))), "-");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/*")", R"(,"resourceNames":["other","web"])"))), "");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/*")", R"(,"scope":"Cluster")"))), "-");
  EXPECT_EQ(named_as(matching(rule(R"("*")", R"("*")", R"("*/*")", R"(,"scope":"Namespaced")"))), "");
}

TEST(MatchResources, ANamespaceIsClusterScoped) {
  const WrittenResource written{{"", "v1", "namespaces"}, "", {}};
  AdmissionAttributes attributes;
  attributes.resource = written.resource;
  attributes.ns = attributes.name = "n";
  const MatchResources cluster = matching(rule(R"("*")", R"("*")", R"("*")", R"(,"scope":"Cluster")"));
  const MatchResources namespaced = matching(rule(R"("*")", R"("*")", R"("*")", R"(,"scope":"Namespaced")"));
  EXPECT_NE(find_rule(resolve(&cluster, written).rules, attributes), nullptr);
  EXPECT_EQ(find_rule(resolve(&namespaced, written).rules, attributes), nullptr);
}

TEST(MatchResources, NeedTheirSelectors) {
  EXPECT_EQ(read_match_resources({}).problem, "a nil namespace selector was passed, please ensure selectors are initialized properly");
}

}  // namespace
}  // namespace backplane::admission::policies

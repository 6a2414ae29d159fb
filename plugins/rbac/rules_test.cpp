#include "rules.hpp"

#include <gtest/gtest.h>

#include "backplane/types/json_reading.hpp"
#include "rule_matcher.hpp"

namespace backplane::rbac {
namespace {

PolicyRules rules(std::string_view json) { return rules_in(read_json(json)->get_array()); }

std::string lines(const PolicyRules& missing) {
  std::string out;
  for (const std::string& line : described(missing)) out += line + "\n";
  return out;
}

TEST(Rules, MissingOnesAreListedByResourceWithTheirVerbs) {
  const auto wanted = rules(R"([{"verbs":["get","list"],"apiGroups":["","apps"],"resources":["pods"]},
                                {"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["b","a"]},
                                {"verbs":["get"],"nonResourceURLs":["/x"]}])");
  EXPECT_EQ(lines(missing_rules({}, wanted)), R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]})"
                                              "\n"
                                              R"({APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]})"
                                              "\n"
                                              R"({APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]})"
                                              "\n"
                                              R"({APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]})"
                                              "\n"
                                              R"({NonResourceURLs:["/x"], Verbs:["get"]})"
                                              "\n");
  const auto have = rules(R"([{"verbs":["*"],"apiGroups":[""],"resources":["*"]},{"verbs":["get"],"nonResourceURLs":["/*"]}])");
  EXPECT_EQ(lines(missing_rules(have, wanted)), R"({APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]})"
                                                "\n");
}

TEST(Rules, AnySubresourceCoversThatSubresourceAlone) {
  const auto have = rules(R"([{"verbs":["update"],"apiGroups":["apps"],"resources":["*/scale"]}])");
  const auto ask = [&](const char* resource) { return missing_rules(have, {{{"update"}, {"apps"}, {resource}, {}, {}}}).empty(); };
  EXPECT_TRUE(ask("deployments/scale"));
  EXPECT_TRUE(ask("*/scale"));
  EXPECT_FALSE(ask("deployments"));
  EXPECT_FALSE(ask("deployments/status"));
  EXPECT_FALSE(ask("*"));
}

TEST(Rules, NamesAreCoveredByAllNamesOrByThemselves) {
  const PolicyRules named{{{"get"}, {""}, {"pods"}, {"a"}, {}}};
  EXPECT_TRUE(missing_rules(named, named).empty());
  EXPECT_TRUE(missing_rules({{{"get"}, {""}, {"pods"}, {}, {}}}, named).empty());
  EXPECT_FALSE(missing_rules(named, {{{"get"}, {""}, {"pods"}, {}, {}}}).empty());
  EXPECT_FALSE(missing_rules(named, {{{"get"}, {""}, {"pods"}, {"b"}, {}}}).empty());
}

struct Asked {
  const char *verb, *group, *resource, *subresource, *name;
};

bool allows(const PolicyRule& rule, const Asked& asked) {
  AuthorizationAttributes wanted;
  wanted.resource_request = true;
  wanted.verb = asked.verb;
  wanted.api_group = asked.group;
  wanted.resource = asked.resource;
  wanted.subresource = asked.subresource;
  wanted.name = asked.name;
  return RuleMatcher(rule).allows(WantedAccess(RequestView(wanted)));
}

bool allows_path(const PolicyRule& rule, const char* verb, const char* path) {
  AuthorizationAttributes wanted;
  wanted.verb = verb;
  wanted.path = path;
  return RuleMatcher(rule).allows(WantedAccess(RequestView(wanted)));
}

TEST(RuleMatcher, ComparesEveryPartOfAResourceRequest) {
  const PolicyRule rule{{"get"}, {"apps"}, {"deployments", "pods/log", "*/scale"}, {}, {}};
  EXPECT_TRUE(allows(rule, {"get", "apps", "deployments", "", "any"}));
  EXPECT_TRUE(allows(rule, {"get", "apps", "pods", "log", ""}));
  EXPECT_TRUE(allows(rule, {"get", "apps", "pods/log", "", ""})) << "a review may name both in one text";
  EXPECT_TRUE(allows(rule, {"get", "apps", "anything", "scale", ""}));
  EXPECT_FALSE(allows(rule, {"list", "apps", "deployments", "", ""}));
  EXPECT_FALSE(allows(rule, {"get", "", "deployments", "", ""}));
  EXPECT_FALSE(allows(rule, {"get", "apps", "deployments", "status", ""}));
  EXPECT_FALSE(allows(rule, {"get", "apps", "pods", "", ""}));
  EXPECT_FALSE(allows(rule, {"get", "apps", "podslog", "", ""}));
  EXPECT_FALSE(allows(rule, {"get", "apps", "pods", "logs", ""}));
}

TEST(RuleMatcher, StarsAndNames) {
  EXPECT_TRUE(allows({{"*"}, {"*"}, {"*"}, {}, {}}, {"x", "y", "z", "s", "n"}));
  const PolicyRule named{{"get"}, {""}, {"secrets"}, {"a"}, {}};
  EXPECT_TRUE(allows(named, {"get", "", "secrets", "", "a"}));
  EXPECT_FALSE(allows(named, {"get", "", "secrets", "", ""})) << "a list has no name";
  EXPECT_FALSE(allows({{"get"}, {""}, {"pods/*"}, {}, {}}, {"get", "", "pods", "log", ""})) << "no wildcard of subresources";
  EXPECT_FALSE(allows({{"get"}, {}, {}, {}, {"*"}}, {"get", "", "pods", "", ""})) << "URLs are not resources";
}

TEST(RuleMatcher, PathsEndInStars) {
  const PolicyRule rule{{"get"}, {}, {}, {}, {"/healthz", "/logs/*"}};
  EXPECT_TRUE(allows_path(rule, "get", "/healthz"));
  EXPECT_TRUE(allows_path(rule, "get", "/logs/a/b"));
  EXPECT_TRUE(allows_path(rule, "get", "/logs/"));
  EXPECT_FALSE(allows_path(rule, "get", "/logs"));
  EXPECT_FALSE(allows_path(rule, "get", "/healthz/x"));
  EXPECT_FALSE(allows_path(rule, "post", "/healthz"));
  EXPECT_TRUE(allows_path({{"*"}, {}, {}, {}, {"*"}}, "post", "/x"));
  EXPECT_FALSE(allows_path({{"*"}, {"*"}, {"*"}, {}, {}}, "get", "/x")) << "resources are not URLs";
}

}  // namespace
}  // namespace backplane::rbac

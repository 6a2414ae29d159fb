#include "common/resource_rules.hpp"

#include <gtest/gtest.h>

namespace backplane::admission {
namespace {

ResourceRule parsed_rule(std::string_view text) { return read_resource_rule(json::parse(text).get_object()); }

AdmissionAttributes write_of(AdmissionOperation operation, const GroupVersionResource& resource, std::string_view subresource,
                             std::string_view ns) {
  AdmissionAttributes out;
  out.operation = operation;
  out.resource = resource;
  out.subresource = subresource;
  out.ns = ns;
  out.name = "web";
  return out;
}

bool rule_matches(const ResourceRule& rule, const AdmissionAttributes& write) {
  return names_resource(rule, write.resource, write.subresource) && admits_write(rule, write.resource, write);
}

struct RuleCase {
  const char* name;
  const char* rule;
  AdmissionOperation operation;
  GroupVersionResource resource;
  const char* subresource;
  const char* ns;
  bool matches;
};

constexpr auto kCreateOp = AdmissionOperation::kCreate;

// Cases of upstream's predicates/rules/rules_test.go, with all parts of the rule set.
const RuleCase kRuleCases[] = {
    {"group wildcard",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"group exact",
     R"({"operations":["*"],"apiGroups":["g1","g2"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g2", "v", "r"},
     "",
     "ns",
     true},
    {"group other",
     R"({"operations":["*"],"apiGroups":["g1","g2"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g3", "v", "r"},
     "",
     "ns",
     false},
    {"version exact",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*"]})",
     kCreateOp,
     {"g", "v2", "r"},
     "",
     "ns",
     true},
    {"version other",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*"]})",
     kCreateOp,
     {"g", "v3", "r"},
     "",
     "ns",
     false},
    {"operation exact",
     R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kDelete,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"operation other",
     R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kConnect,
     {"g", "v", "r"},
     "",
     "ns",
     false},
    {"connect",
     R"({"operations":["CONNECT"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kConnect,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"no subresources",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     false},
    {"all subresources",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     true},
    {"all subresources, resource itself",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"all subresources of another",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*","r2"]})",
     kCreateOp,
     {"g", "v", "r2"},
     "proxy",
     "ns",
     false},
    {"one subresource of all",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/exec"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     true},
    {"cluster scope, namespaced",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     false},
    {"cluster scope, cluster-scoped",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "",
     true},
    {"cluster scope, a namespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"", "v1", "namespaces"},
     "",
     "ns",
     true},
    {"namespaced scope, a namespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"", "v1", "namespaces"},
     "",
     "ns",
     false},
    {"namespaced scope, namespaced",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"namespaced scope, cluster-scoped",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "",
     false},
    {"unknown scope",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Other"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     false},
};

TEST(ResourceRules, MatchAsUpstream) {
  for (const RuleCase& each : kRuleCases) {
    EXPECT_EQ(rule_matches(parsed_rule(each.rule), write_of(each.operation, each.resource, each.subresource, each.ns)), each.matches)
        << each.name;
  }
}

TEST(ResourceRules, LimitNames) {
  const AdmissionAttributes write = write_of(kCreateOp, {"g", "v", "r"}, "", "ns");
  const auto matches = [&](const std::string& names) {
    return rule_matches(
        parsed_rule(R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":)" + names + "}"),
        write);
  };
  EXPECT_TRUE(matches("[]"));
  EXPECT_TRUE(matches(R"(["other","web"])"));
  EXPECT_FALSE(matches(R"(["other"])"));
}

}  // namespace
}  // namespace backplane::admission

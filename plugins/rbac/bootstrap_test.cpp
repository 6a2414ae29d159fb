#include "bootstrap.hpp"

#include <gtest/gtest.h>

#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/json_reading.hpp"
#include "reconcile.hpp"
#include "rules.hpp"

namespace backplane::rbac {
namespace {

Object object(std::string_view text) { return read_json(text)->get_object(); }
Array array(std::string_view text) { return read_json(text)->get_array(); }

std::optional<Delivered> find_delivered(std::string_view resource, std::string_view name, std::set<std::string_view> on = {}) {
  const BootstrapPolicy policy([on](std::string_view gate) { return on.contains(gate); });
  for (std::size_t i = 0; i < policy.size(); ++i) {
    Delivered out = policy.at(i);
    if (out.resource == resource && out.name == name) return out;
  }
  return std::nullopt;
}
Delivered delivered(std::string_view resource, std::string_view name) { return *find_delivered(resource, name); }

// A role or binding with these members and the labels and annotations of every delivered object.
Delivered made_of(std::string_view resource, std::string_view members) {
  Delivered out{resource, "", "n", object(members), ""};
  out.object["metadata"] = object(R"({"name":"n","labels":{"l":"1"},"annotations":{"a":"1"}})");
  return out;
}
Object with(Object current, std::string_view member, std::string_view text) {
  current[member] = *read_json(text);
  return current;
}

TEST(Policy, ObjectsHaveTheLabelsOfAllAndTheirOwnAndTheDefaultsOfTheirKind) {
  const Delivered edit = delivered(kClusterRoles, "edit");
  EXPECT_EQ(to_json(edit.object.at("metadata")), R"({"name":"edit","labels":{"kubernetes.io/bootstrapping":"rbac-defaults",)"
                                                 R"("rbac.authorization.k8s.io/aggregate-to-admin":"true"},)"
                                                 R"("annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}})");
  const Delivered binding = delivered(kClusterRoleBindings, "system:monitoring");
  EXPECT_EQ(get_string_path(binding.object, "roleRef.apiGroup"), kGroup);
  EXPECT_EQ(get_string_path(binding.object, "roleRef.name"), "system:monitoring");
  EXPECT_EQ(to_json(binding.object.at("subjects")),
            R"([{"kind":"Group","name":"system:monitoring","apiGroup":"rbac.authorization.k8s.io"}])");
}

TEST(Policy, GatesDecideOnObjectsRulesAndPaths) {
  EXPECT_FALSE(find_delivered(kClusterRoles, "system:cluster-trust-bundle-discovery"));
  EXPECT_TRUE(find_delivered(kClusterRoles, "system:cluster-trust-bundle-discovery", {"ClusterTrustBundle"}));
  const auto rules = [](std::set<std::string_view> on) {
    return count_of(find_delivered(kClusterRoles, "system:controller:job-controller", on)->object, "rules");
  };
  EXPECT_EQ(rules({"WorkloadWithJob"}), rules({}) + 1);
  const Delivered monitoring = *find_delivered(kClusterRoles, "system:monitoring", {"ComponentFlagz"});
  const Object& rule = monitoring.object.at("rules").get_array()[0].get_object();
  EXPECT_EQ(rule.at("nonResourceURLs").get_array()[0], "/flagz");
  EXPECT_FALSE(rule.contains("gatedURLs"));
}

TEST(Policy, EveryRoleOfAControllerIsBound) {
  const BootstrapPolicy policy([](std::string_view) { return true; });
  std::set<std::string> roles, bindings;
  for (std::size_t i = 0; i < policy.size(); ++i) {
    const Delivered each = policy.at(i);
    if (!each.name.starts_with("system:controller:") || !each.ns.empty()) continue;
    (each.resource == kClusterRoles ? roles : bindings).insert(each.name);
  }
  EXPECT_EQ(roles, bindings);
  EXPECT_GT(roles.size(), 40U);
}

Array missing(const Array& have, const Array& wanted) { return to_json_rules(missing_rules(rules_in(have), rules_in(wanted))); }

TEST(MissingRules, AreOfOneActEach) {
  EXPECT_EQ(to_json(missing(array(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"),
                            array(R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods","nodes"]}])"))),
            R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]},)"
            R"({"verbs":["list"],"apiGroups":[""],"resources":["nodes"]}])");
}

TEST(MissingRules, AreNoneWhereStarsOrOtherRulesAllowThem) {
  const Array wanted = array(R"([{"verbs":["get"],"apiGroups":["apps"],"resources":["deployments/scale"]}])");
  for (const std::string_view have :
       {R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})", R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*/scale"]})",
        R"({"verbs":["list","get"],"apiGroups":["","apps"],"resources":["a","deployments/scale"]})"}) {
    EXPECT_TRUE(missing(Array{Value(object(have))}, wanted).empty()) << have;
  }
  for (const std::string_view have :
       {R"({"verbs":["get"],"apiGroups":["apps"],"resources":["deployments"]})", R"({"verbs":["get"],"apiGroups":[""],"resources":["*"]})",
        R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*"],"resourceNames":["a"]})",
        R"({"verbs":["*"],"nonResourceURLs":["*"]})"}) {
    EXPECT_EQ(missing(Array{Value(object(have))}, wanted), wanted) << have;
  }
}

TEST(MissingRules, OfNamesAndPaths) {
  const Array named = array(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a","b"]}])");
  EXPECT_EQ(to_json(missing(array(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}])"), named)),
            R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["b"]}])");
  EXPECT_TRUE(missing(array(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"), named).empty());
  const Array paths = array(R"([{"verbs":["get"],"nonResourceURLs":["/livez","/livez/*","/version"]}])");
  EXPECT_EQ(to_json(missing(array(R"([{"verbs":["get"],"nonResourceURLs":["/livez*"]}])"), paths)),
            R"([{"verbs":["get"],"nonResourceURLs":["/version"]}])");
}

TEST(Revised, AnObjectThatHasAllAndMoreStays) {
  const Delivered role = made_of(kClusterRoles, R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  Object have = with(role.object, "rules", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])");
  ensure_object(have.at("metadata").get_object(), "labels")["l"] = "another";
  EXPECT_FALSE(revised(role, have));
}

TEST(Revised, WhatIsMissingIsAddedBehindWhatIsThere) {
  const Delivered role = made_of(kRoles, R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  const Object have = with(Object(), "rules", R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}])");
  const auto out = revised(role, have);
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->replaces);
  EXPECT_FALSE(out->forbidden);
  EXPECT_EQ(to_json(out->object.at("rules")),
            R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
  EXPECT_EQ(to_json(out->object.at("metadata")), R"({"annotations":{"a":"1"},"labels":{"l":"1"}})");
}

TEST(Revised, AggregationFollowsWhatIsDelivered) {
  const std::string selectors = R"({"clusterRoleSelectors":[{"matchLabels":{"a":"b"},"matchExpressions":[]}]})";
  const Delivered plain = made_of(kClusterRoles, "{}");
  EXPECT_FALSE(revised(plain, with(plain.object, "aggregationRule", selectors))->object.contains("aggregationRule"));
  const Delivered gathering = made_of(kClusterRoles, R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})");
  EXPECT_FALSE(revised(gathering, with(gathering.object, "aggregationRule", selectors)));
  // Aggregated rules are kept.
  EXPECT_FALSE(revised(gathering, with(gathering.object, "rules", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")));
  EXPECT_EQ(to_json(revised(gathering, plain.object)->object.at("aggregationRule")),
            R"({"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]})");
}

constexpr std::string_view kBinding =
    R"({"subjects":[{"kind":"Group","apiGroup":"g","name":"a"}],"roleRef":{"apiGroup":"g","kind":"ClusterRole","name":"r"}})";

TEST(Revised, BindingsGetTheirSubjectsBack) {
  const Delivered binding = made_of(kClusterRoleBindings, kBinding);
  EXPECT_FALSE(
      revised(binding, with(binding.object, "subjects", R"([{"kind":"User","name":"u"},{"kind":"Group","apiGroup":"g","name":"a"}])")));
  EXPECT_EQ(to_json(revised(binding, with(binding.object, "subjects", R"([{"kind":"User","name":"u"}])"))->object.at("subjects")),
            R"([{"kind":"User","name":"u"},{"kind":"Group","apiGroup":"g","name":"a"}])");
}

TEST(Revised, BindingsToAnotherRoleAreMadeAnew) {
  const Delivered binding = made_of(kRoleBindings, kBinding);
  const auto out = revised(binding, with(binding.object, "roleRef", R"({"apiGroup":"g","kind":"Role","name":"r"})"));
  ASSERT_TRUE(out && out->replaces);
  EXPECT_EQ(out->object, binding.object);
}

TEST(Revised, SkipsObjectsThatDisableReconciliation) {
  const Delivered role = made_of(kRoles, R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  const Object have = object(R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}})");
  EXPECT_TRUE(revised(role, have)->forbidden);
}

TEST(Succession, TakesOverTheChangesOfTheOlderObject) {
  Delivered role = made_of(kClusterRoles, R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  const Object older = with(Object(), "rules", R"([{"verbs":["list"],"apiGroups":[""],"resources":["nodes"]}])");
  EXPECT_EQ(count_of(succeeding(role, older), "rules"), 2U);
  EXPECT_EQ(succeeding(role, with(older, "aggregationRule", "{}")), role.object);
  // If an administrator has removed subjects and disabled reconciliation, the new binding does not have them either.
  const Delivered binding = made_of(kClusterRoleBindings, kBinding);
  const Object kept = object(R"({"metadata":{"name":"o","annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}})");
  EXPECT_EQ(count_of(succeeding(binding, kept), "subjects"), 0U);
}

}  // namespace
}  // namespace backplane::rbac

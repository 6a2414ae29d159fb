#include "roles.hpp"

#include <gtest/gtest.h>

#include "kind_under_test.hpp"

namespace backplane::rbac {
namespace {

testing::KindUnderTest kind(std::string_view name) {
  static const auto schemas = rbac_schemas()->front();
  return testing::KindUnderTest(rbac_group()->kind(name), *schemas, "rbac.authorization.k8s.io");
}

std::string problems(std::string_view name, std::string_view object) {
  return kind(name).problems(kind(name).created(R"({"metadata":{"name":"n","namespace":"n"},)" + std::string(object) + "}"));
}

TEST(Roles, RulesAreOnResourcesAndOnlyClusterRolesHaveOthers) {
  EXPECT_EQ(problems("Role", R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])"), "");
  EXPECT_EQ(
      problems("Role", R"("rules":[{}])"),
      "[rules[0].verbs: Required value: verbs must contain at least one value, rules[0].apiGroups: Required value: resource rules must "
      "supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource]");
  EXPECT_EQ(problems("Role", R"("rules":[{"nonResourceURLs":["/a"],"verbs":["get"]}])"),
            R"(rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs)");
  EXPECT_EQ(problems("ClusterRole", R"("rules":[{"nonResourceURLs":["/a"],"verbs":["get"]}])"), "");
  EXPECT_EQ(problems("ClusterRole", R"("rules":[{"nonResourceURLs":["/a"],"resourceNames":["b"],"verbs":["get"]}])"),
            R"(rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs)");
}

TEST(Roles, AggregateByLabelSelectors) {
  EXPECT_EQ(
      problems("ClusterRole", R"("aggregationRule":{})"),
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil");
  EXPECT_EQ(problems("ClusterRole", R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}},{}]})"), "");
  const std::string bad = problems("ClusterRole", R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b c"}}]})");
  EXPECT_TRUE(bad.starts_with(R"([aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "b c": )")) << bad;
  EXPECT_TRUE(bad.ends_with("aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.]")) << bad;
}

constexpr std::string_view kView = R"("roleRef":{"kind":"ClusterRole","name":"view"})";

TEST(Bindings, SubjectsHaveTheGroupOfTheirKind) {
  const std::string subjects =
      R"("subjects":[{"kind":"User","name":"J D"},{"kind":"ServiceAccount","name":"a"},{"kind":"Group","name":"g","apiGroup":"x"}],)";
  const Object binding = kind("RoleBinding").created("{" + subjects + std::string(kView) + "}");
  EXPECT_EQ(to_json(*find_path(binding, "subjects")),
            R"([{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"J D"},{"kind":"ServiceAccount","name":"a"},)"
            R"({"kind":"Group","apiGroup":"x","name":"g"}])");
  EXPECT_EQ(get_string_path(binding, "roleRef.apiGroup"), "rbac.authorization.k8s.io");
  EXPECT_EQ(kind("RoleBinding").problems(binding),
            R"(subjects[2].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io")");
}

TEST(Bindings, ServiceAccountsHaveNamesAndInTheWholeClusterNamespaces) {
  const std::string account = R"("subjects":[{"kind":"ServiceAccount","name":"a"}],)" + std::string(kView);
  EXPECT_EQ(problems("RoleBinding", account), "");
  EXPECT_EQ(problems("ClusterRoleBinding", account), "subjects[0].namespace: Required value");
  EXPECT_TRUE(problems("RoleBinding", R"("subjects":[{"kind":"ServiceAccount","name":"A b"}],)" + std::string(kView))
                  .starts_with(R"(subjects[0].name: Invalid value: "A b": a lowercase RFC 1123 subdomain)"));
  EXPECT_EQ(problems("RoleBinding", R"("subjects":[{}],)" + std::string(kView)),
            R"([subjects[0].kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group", subjects[0].name: Required )"
            "value]");
}

TEST(Bindings, RoleRefsAreValidatedAndImmutable) {
  EXPECT_EQ(problems("ClusterRoleBinding", R"("roleRef":{"kind":"Role","name":"r"})"),
            R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")");
  EXPECT_EQ(problems("RoleBinding", R"("roleRef":{"kind":"Role","name":"a/b"})"),
            R"(roleRef.name: Invalid value: "a/b": may not contain '/')");
  const Object old = kind("RoleBinding").created("{" + std::string(kView) + "}");
  const Object now = kind("RoleBinding").created(R"({"roleRef":{"kind":"Role","name":"r"}})");
  EXPECT_EQ(kind("RoleBinding").change_problems(now, old),
            R"(roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"r"}: cannot change roleRef)");
}

TEST(Bindings, TablesShowTheRoleAndTheSubjects) {
  const Object binding = kind("RoleBinding")
                             .created(R"({"metadata":{"name":"b"},"subjects":[{"kind":"User","name":"j"},{"kind":"User","name":"k"},)"
                                      R"({"kind":"ServiceAccount","name":"a","namespace":"n"}],"roleRef":{"kind":"Role","name":"r"}})");
  const auto shown = kind("RoleBinding");
  const Array cells = shown.strategy().table_convertor().cells(binding, 0, {});
  EXPECT_EQ(to_json(cells), R"(["b","Role/r","\u003cunknown\u003e","j, k","","n/a"])");
}

}  // namespace
}  // namespace backplane::rbac

#include <gtest/gtest.h>

#include <set>

#include "backplane/types/struct_difference.hpp"
#include "schema/unified_diff.hpp"

namespace backplane::schema {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }
const Schema& type_of(std::string_view name) { return *core_schemas()->find("io.k8s.api.core.v1." + std::string(name)); }
Value go_struct(std::string_view type, const Object& object) { return type_of(type).go_struct(object); }
std::string difference(std::string_view type, std::string_view before, std::string_view after) {
  return struct_difference(type_of(type), parse(before), parse(after)).value_or("the same");
}

TEST(GoStruct, HasEveryFieldInTheStructsOrder) {
  EXPECT_EQ(to_json(go_struct("NFSVolumeSource", parse(R"({"readOnly":true,"server":"a"})"))),
            R"({"Server":"a","Path":"","ReadOnly":true})");
  EXPECT_EQ(to_json(go_struct("ResourceRequirements", parse(R"({"requests":{"memory":"1Gi","cpu":"1"}})"))),
            R"({"Limits":null,"Requests":{"cpu":"1","memory":"1Gi"},"Claims":null})");
  EXPECT_EQ(to_json(go_struct("ContainerPort", parse(R"({"containerPort":80})"))),
            R"({"Name":"","HostPort":0,"ContainerPort":80,"Protocol":"","HostIP":""})");
}

TEST(GoStruct, TheHostsNamespacesStandInTheSecurityContextThere) {
  const Value pod = go_struct("PodSpec", parse(R"({"hostNetwork":true})"));
  EXPECT_EQ(find_path(pod.get_object(), {"SecurityContext", "HostNetwork"})->get_bool(), true);
  EXPECT_EQ(find(pod.get_object(), "HostNetwork"), nullptr);
}

// The difference would not show a change of a field that is not printed.
TEST(GoStruct, PrintsEveryPropertyOfTheSchema) {
  // Fields that the Go struct has in PodSecurityContext, or not at all (the old name of serviceAccountName).
  const std::set<std::string> of_security_context = {"PodSpec.hostNetwork",           "PodSpec.hostPID",   "PodSpec.hostIPC",
                                                     "PodSpec.shareProcessNamespace", "PodSpec.hostUsers", "PodSpec.serviceAccount"};
  constexpr std::string_view kPrefix = "io.k8s.api.core.v1.";
  int types = 0;
  for (const char* root : {"PodSpec", "PersistentVolumeSpec", "PersistentVolumeClaimSpec"}) {
    Object components;
    core_schemas()->openapi_components(std::string(kPrefix) + root, components);
    for (const auto& component : components) {
      const std::string_view full = component.key();
      const Object* properties = get_object(component.value().get_object(), "properties");
      if (!full.starts_with(kPrefix) || properties == nullptr || properties->empty()) continue;
      const std::string name(full.substr(kPrefix.size()));
      ++types;
      std::size_t missing = 0;
      for (const auto& property : *properties) missing += of_security_context.contains(name + "." + std::string(property.key()));
      const std::size_t printed = go_struct(name, {}).get_object().size();
      if (name == "PodSecurityContext") {
        EXPECT_EQ(printed, properties->size() + 5) << name;
      } else if (name == "PersistentVolumeClaimTemplate") {
        EXPECT_EQ(printed, 1u) << "its metadata have no name of their own";
      } else {
        EXPECT_EQ(printed, properties->size() - missing) << name;
      }
    }
  }
  EXPECT_GT(types, 90);
}

TEST(StructDifference, IsEmptyForValuesThatAreEqualInGo) {
  EXPECT_EQ(difference("PodSpec", R"({"hostNetwork":false})", R"({"securityContext":{}})"), "the same");
  EXPECT_EQ(difference("NFSVolumeSource", R"({"path":"/a"})", R"({"path":"/b"})"),
            "@@ -1,5 +1,5 @@\n {\n  \"Server\": \"\",\n- \"Path\": \"/a\",\n+ \"Path\": \"/b\",\n  \"ReadOnly\": false\n }\n");
}

std::vector<std::string> lines(std::string_view letters) {
  std::vector<std::string> out;
  for (const char c : letters) out.emplace_back(1, c);
  return out;
}

TEST(UnifiedDiff, ShowsThreeLinesAroundAChangeAndJoinsWhatIsNear) {
  EXPECT_EQ(unified_diff(lines("abcdefgh"), lines("abcdXfgh")), "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n");
  EXPECT_EQ(unified_diff(lines("a"), lines("ab")), "@@ -1 +1,2 @@\n a\n+b\n");
  EXPECT_EQ(unified_diff(lines("ab"), lines("b")), "@@ -1,2 +1 @@\n-a\n b\n");
  EXPECT_EQ(unified_diff({}, lines("a")), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff(lines("abc"), lines("abc")), "");
  // Seven unchanged lines separate two groups, six do not.
  EXPECT_EQ(unified_diff(lines("1abcdefg2"), lines("Xabcdefg2Y")),
            "@@ -1,4 +1,4 @@\n-1\n+X\n a\n b\n c\n@@ -7,3 +7,4 @@\n f\n g\n 2\n+Y\n");
  EXPECT_EQ(unified_diff(lines("1abcde2"), lines("Xabcde2Y")), "@@ -1,7 +1,8 @@\n-1\n+X\n a\n b\n c\n d\n e\n 2\n+Y\n");
}

TEST(UnifiedDiff, TheLongestRunIsFoundFirst) {
  // "bcd" is longer than "ab", so the b after the a is not matched.
  EXPECT_EQ(unified_diff(lines("abxbcd"), lines("abcd")), "@@ -1,6 +1,4 @@\n a\n-b\n-x\n b\n c\n d\n");
}

// Regression: one such difference took half a minute.
TEST(UnifiedDiff, IsLeftOutWhenItTakesTooManySteps) {
  std::vector<std::string> before, after;
  for (std::size_t i = 0; i < 6000; ++i) {
    before.push_back(std::to_string(i % 150));
    after.push_back(std::to_string((i * 7 + i / 150) % 150));
  }
  EXPECT_EQ(unified_diff(before, after), "");
  after = before;
  after[3] = "x";
  EXPECT_TRUE(unified_diff(before, after).starts_with("@@ -1,7 +1,7 @@\n 0\n")) << "where lines are few, all is said";
}

}  // namespace
}  // namespace backplane::schema

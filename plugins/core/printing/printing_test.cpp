#include <gtest/gtest.h>

#include <set>

#include "backplane/schema.hpp"
#include "go_structs_json.hpp"
#include "printing/go_struct.hpp"
#include "printing/unified_diff.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }
std::string difference(std::string_view type, std::string_view before, std::string_view after) {
  return struct_difference(type, parse(before), parse(after)).value_or("the same");
}

TEST(GoStruct, HasEveryFieldInTheStructsOrder) {
  EXPECT_EQ(to_json(go_struct("NFSVolumeSource", parse(R"({"readOnly":true,"server":"a"})"))),
            R"({"Server":"a","Path":"","ReadOnly":true})");
  EXPECT_EQ(to_json(go_struct("ResourceRequirements", parse(R"({"requests":{"memory":"1Gi","cpu":"1"}})"))),
            R"({"Limits":null,"Requests":{"cpu":"1","memory":"1Gi"},"Claims":null})");
  EXPECT_EQ(to_json(go_struct("ContainerPort", parse(R"({"containerPort":80})"))),
            R"({"Name":"","HostPort":0,"ContainerPort":80,"Protocol":"","HostIP":""})");
  EXPECT_EQ(to_json(go_structs("NodeSelectorTerm", nullptr)), "null");
}

TEST(GoStruct, TheHostsNamespacesStandInTheSecurityContextThere) {
  const Value pod = go_struct("PodSpec", parse(R"({"hostNetwork":true})"));
  EXPECT_EQ(find_path(pod.get_object(), {"SecurityContext", "HostNetwork"})->get_bool(), true);
  EXPECT_EQ(find(pod.get_object(), "HostNetwork"), nullptr);
}

// A field that is not printed could be changed unnoticed.
TEST(GoStruct, PrintsEveryPropertyOfTheSchema) {
  const std::string_view document = go_structs_json();
  const Object layouts = parse(document);
  // What the Go struct has elsewhere: in PodSecurityContext, or not at all (the old name of serviceAccountName).
  const std::set<std::string> elsewhere = {"PodSpec.hostNetwork",           "PodSpec.hostPID",   "PodSpec.hostIPC",
                                           "PodSpec.shareProcessNamespace", "PodSpec.hostUsers", "PodSpec.serviceAccount"};
  int types = 0;
  for (const char* root : {"PodSpec", "PersistentVolumeSpec", "PersistentVolumeClaimSpec"}) {
    Object components;
    core_schemas()->openapi_components(std::string("io.k8s.api.core.v1.") + root, components);
    for (const auto& component : components) {
      const std::string name(std::string_view(component.key()).substr(std::string_view(component.key()).rfind('.') + 1));
      const Object* properties = get_object(component.value().get_object(), "properties");
      const Array* fields = get_array(layouts, name);
      if (fields == nullptr || properties == nullptr) continue;
      ++types;
      std::set<std::string> printed;
      for (const Value& field : *fields) printed.insert(std::string(field.get_array()[1].get_string().c_str()));
      for (const auto& property : *properties) {
        const std::string key(property.key());
        EXPECT_TRUE(printed.contains(key) || elsewhere.contains(name + "." + key)) << name << "." << key;
      }
    }
  }
  EXPECT_GT(types, 90);
}

TEST(StructDifference, IsNothingForWhatGoCannotTellApart) {
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
  // Seven lines without a change part two groups, six do not.
  EXPECT_EQ(unified_diff(lines("1abcdefg2"), lines("Xabcdefg2Y")),
            "@@ -1,4 +1,4 @@\n-1\n+X\n a\n b\n c\n@@ -7,3 +7,4 @@\n f\n g\n 2\n+Y\n");
  EXPECT_EQ(unified_diff(lines("1abcde2"), lines("Xabcde2Y")), "@@ -1,7 +1,8 @@\n-1\n+X\n a\n b\n c\n d\n e\n 2\n+Y\n");
}

TEST(UnifiedDiff, TheLongestRunIsFoundFirst) {
  // "bcd" is longer than "ab": the a before it was inserted, the b behind the a is not matched.
  EXPECT_EQ(unified_diff(lines("abxbcd"), lines("abcd")), "@@ -1,6 +1,4 @@\n a\n-b\n-x\n b\n c\n d\n");
}

}  // namespace
}  // namespace backplane::core

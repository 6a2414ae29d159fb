#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "manifests/manifest_directory.hpp"
#include "manifests/manifest_files.hpp"
#include "manifests/manifest_source.hpp"

namespace backplane::admission::manifests {
namespace {

// A separate directory for each test.
class Manifests : public ::testing::Test {
 protected:
  Manifests() {
    std::string pattern = (std::filesystem::temp_directory_path() / "manifests-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~Manifests() override { std::filesystem::remove_all(directory); }

  void put(const std::string& name, const std::string& text) const { std::ofstream(directory + "/" + name) << text; }
  // The problem of the manifests; empty: they can be used.
  std::string problem(const ManifestKinds& kinds) const {
    const auto loaded = load_manifests(directory, kinds);
    if (loaded.ok()) return {};
    std::string out = loaded.status().message();
    for (std::size_t at = out.find(directory); at != std::string::npos; at = out.find(directory)) out.replace(at, directory.size(), "DIR");
    return out;
  }
  // The problem of one file.
  std::string problem_of(const std::string& text, const ManifestKinds& kinds = kValidatingPolicies) {
    put("a.yaml", text);
    return problem(kinds);
  }

  std::string directory;
};

std::string policy(const std::string& name, const std::string& more = {}) {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: " + name +
         "}\nspec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: "
         "[configmaps]}]}\n  validations: [{expression: 'true'}]\n" +
         more;
}
std::string policy_binding(const std::string& name, const std::string& policy, const std::string& more = {}) {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: " + name +
         "}\nspec: {policyName: '" + policy + "', validationActions: [Deny]" + more + "}\n";
}
std::string webhook(const std::string& client) {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: w.static.k8s.io}\n"
         "webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: " +
         client + "}]\n";
}

TEST(ManifestDocuments, AreSeparatedByDashes) {
  EXPECT_EQ(split_documents("a\n---\nb\n--- # c\n\n  \n---\nc: ---\nd\n---e\n"), (std::vector<std::string>{"a", "b", "c: ---\nd\n---e"}));
  EXPECT_TRUE(split_documents("").empty());
}

TEST_F(Manifests, AreReadInTheOrderOfTheFiles) {
  put("b.json", "{\"b\":1}");
  put("a.YML", "a: 1\n---\na: 2");
  put("c.txt", "no");
  std::filesystem::create_directory(directory + "/d.yaml");
  const auto files = read_manifest_files(directory);
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->documents.size(), 3u);
  EXPECT_EQ(files->documents[0].text, "a: 1");
  EXPECT_EQ(files->documents[2].text, "{\"b\":1}");
  EXPECT_TRUE(files->hash.starts_with("sha256:"));
  EXPECT_EQ(read_manifest_files("/none/at/all").status().message(),
            "failed to read manifest directory \"/none/at/all\": open /none/at/all: no such file or directory");
}

TEST_F(Manifests, AreCompletedAndSorted) {
  put("a.yaml",
      policy("z.static.k8s.io") + "---\n" + policy("a.static.k8s.io") + "---\n" + policy_binding("b.static.k8s.io", "a.static.k8s.io"));
  const auto loaded = load_manifests(directory, kValidatingPolicies);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->main.size(), 2u);
  EXPECT_EQ(loaded->bindings.size(), 1u);
  EXPECT_NE(to_json(loaded->main[0]).find("\"name\":\"a.static.k8s.io\""), std::string::npos);
  EXPECT_NE(to_json(loaded->main[0]).find("\"failurePolicy\":\"Fail\""), std::string::npos);
}

TEST_F(Manifests, OfListsAreTaken) {
  put("a.json", R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"admissionregistration.k8s.io/v1","kind":)"
                R"("ValidatingAdmissionPolicyBinding","metadata":{"name":"b.static.k8s.io"},"spec":{"policyName":"none.static.k8s.io",)"
                R"("validationActions":["Deny"]}}]})");
  EXPECT_EQ(problem(kValidatingPolicies),
            "binding \"b.static.k8s.io\" references policy \"none.static.k8s.io\" which does not exist in the manifest directory");
  put("b.yaml",
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyList\nitems:\n- metadata: {name: "
      "none.static.k8s.io}\n  spec:\n    matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: "
      "[CREATE], resources: [configmaps]}]}\n    validations: [{expression: 'true'}]\n");
  EXPECT_EQ(problem(kValidatingPolicies), "");
}

TEST_F(Manifests, ThatCannotBeUsedAreErrors) {
  const std::string start = "error loading DIR/a.yaml: ";
  EXPECT_EQ(problem_of(policy("p")), start + "\"p\" in file \"DIR/a.yaml\" must have a name ending with \".static.k8s.io\"");
  EXPECT_EQ(problem_of(policy("p.static.k8s.io") + "---\n" + policy("p.static.k8s.io")),
            start + "duplicate name \"p.static.k8s.io\" found in file \"DIR/a.yaml\" (previously seen in \"DIR/a.yaml\")");
  EXPECT_EQ(problem_of(policy("p.static.k8s.io", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n")),
            start + "ValidatingAdmissionPolicy \"p.static.k8s.io\": spec.paramKind is not supported for static manifests");
  EXPECT_EQ(problem_of(policy("p.static.k8s.io", "  unknown: 1\n")), start + "strict decoding error: unknown field \"spec.unknown\"");
  EXPECT_EQ(problem_of(policy_binding("b.static.k8s.io", "p")),
            start + "binding \"b.static.k8s.io\": spec.policyName \"p\" must end with \".static.k8s.io\"");
  EXPECT_EQ(problem_of(policy_binding("b.static.k8s.io", "p.static.k8s.io", ", paramRef: {name: x, parameterNotFoundAction: Deny}")),
            start + "binding \"b.static.k8s.io\": spec.paramRef is not supported for static manifests");
  EXPECT_EQ(problem_of("apiVersion: v1\nkind: Pod"),
            start + "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(problem_of("a: b"), start + "Object 'Kind' is missing in 'a: b'");
  EXPECT_EQ(problem_of(webhook("{}")), start + "unsupported resource type *v1.MutatingWebhookConfiguration");
  const std::string wrong =
      problem_of("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p.static.k8s.io}\n");
  EXPECT_TRUE(wrong.starts_with(start + "ValidatingAdmissionPolicy \"p.static.k8s.io\": ")) << wrong;
}

TEST_F(Manifests, OfWebhooksHaveUrls) {
  const std::string start = "error loading DIR/a.yaml: ", hook = "webhook \"a.example.com\" in \"w.static.k8s.io\" (file \"DIR/a.yaml\"): ";
  EXPECT_EQ(problem_of(webhook("{url: 'https://h/'}"), kMutatingWebhooks), "");
  EXPECT_EQ(problem_of(webhook("{service: {name: s, namespace: space}}"), kMutatingWebhooks),
            start + hook + "clientConfig.service is not supported for static manifests; use clientConfig.url instead");
}

TEST_F(Manifests, HaveADirectoryThatIsThere) {
  EXPECT_TRUE(check_directory("", false).ok());
  EXPECT_TRUE(check_directory(directory, true).ok());
  put("file", "");
  const auto message_of = [&](const std::string& path, bool enabled) { return check_directory(path, enabled).message(); };
  EXPECT_EQ(
      message_of(directory, false),
      "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled");
  EXPECT_EQ(message_of("x", true), "staticManifestsDir: Invalid value: \"x\": must be an absolute file path");
  EXPECT_EQ(message_of("/none/at/all", true),
            "staticManifestsDir: Invalid value: \"/none/at/all\": unable to read: stat /none/at/all: no such file or directory");
  EXPECT_EQ(message_of(directory + "/file", true), "staticManifestsDir: Invalid value: \"" + directory + "/file\": must be a directory");
}

TEST_F(Manifests, ChangeTheStampOfTheirDirectory) {
  put("a.yaml", "a");
  const std::string before = stamp_of_directory(directory);
  EXPECT_EQ(stamp_of_directory(directory), before);
  put("b.yaml", "b");
  EXPECT_NE(stamp_of_directory(directory), before);
}

}  // namespace
}  // namespace backplane::admission::manifests

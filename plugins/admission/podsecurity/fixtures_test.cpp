// The pods of the module k8s.io/pod-security-admission (test/testdata): for each level and version some that pass and some that fail. They
// are read from the Go module cache, where `go mod download` puts them; without go the test is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"
#include "podsecurity/evaluator.hpp"
#include "skip.hpp"

namespace backplane::admission::podsecurity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFixtureModule = "k8s.io/pod-security-admission@v0.36.3";

// Empty if the module is not available.
fs::path fixture_folder() {
  const std::string command = std::string("cd / && go mod download -json ") + kFixtureModule + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe)) text.push_back(static_cast<char>(letter));
  if (pclose(pipe) != 0) return {};
  const Object found = json::parse(text).get_object();
  const fs::path folder = fs::path(std::string(get_string(found, "Dir"))) / "test" / "testdata";
  return fs::is_directory(folder) ? folder : fs::path();
}

Object read_pod(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto value = parse_yaml(text, {}, nullptr);
  Object pod = value.ok() && value->is_object() ? value->get_object() : Object();
  // The default of a volume without a source.
  each_mutable(ensure_object(pod, "spec"), "volumes", [](Object& volume) {
    if (volume.size() == 1) volume["emptyDir"].emplace_object();
  });
  return pod;
}

// Files are named after the check that they are for.
struct ExpectedReason {
  std::string_view file, reason;
};
constexpr ExpectedReason kReasons[] = {
    {"allowprivilegeescalation", "allowPrivilegeEscalation != false"},
    {"apparmorprofile", "forbidden AppArmor profile"},
    {"capabilities_baseline", "capabilities"},
    {"capabilities_restricted", "unrestricted capabilities"},
    {"hostnamespaces", "host namespaces"},
    {"hostpathvolumes", "hostPath"},
    {"hostports", "hostPort"},
    {"hostprobesandhostlifecycle", "probe or lifecycle host"},
    {"privileged", "privileged"},
    {"procmount", "procMount"},
    {"restrictedvolumes", "restricted volume types"},
    {"runasnonroot", "runAsNonRoot != true"},
    {"runasuser", "runAsUser=0"},
    {"seccompprofile", "seccompProfile"},
    {"selinuxoptions", "seLinuxOptions"},
    {"sysctls", "forbidden sysctls"},
    {"windowshostprocess", "hostProcess"},
};

std::string_view reason_for(const std::string& file) {
  for (const ExpectedReason& row : kReasons) {
    if (file.starts_with(row.file)) return row.reason;
  }
  return "a check that the test does not know";
}

// level/version/pass/check0.yaml
void check_fixture(const fs::path& folder, const fs::path& path) {
  const fs::path relative = path.lexically_relative(folder);
  const std::string level = relative.begin()->string(), version = std::next(relative.begin())->string();
  const bool passes = std::next(relative.begin(), 2)->string() == "pass";
  const LevelVersion policy{parse_level(level).value(), parse_version(version).value()};
  const Object pod = read_pod(path);
  ASSERT_FALSE(meta_name(pod).empty()) << path;
  const Verdict verdict = evaluate(policy, object_or_empty(pod, "metadata"), object_or_empty(pod, "spec"));
  EXPECT_EQ(verdict.allowed(), passes) << relative << ": " << verdict.details();
  if (passes) return;
  EXPECT_NE(verdict.details().find(reason_for(path.filename().string())), std::string::npos) << relative << ": " << verdict.details();
}

TEST(PodSecurityFixtures, PassAndFailAsTheirFoldersSay) {
  const fs::path folder = fixture_folder();
  if (folder.empty()) BACKPLANE_SKIP_WITHOUT("go", "no module with fixtures");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    check_fixture(folder, entry.path());
  }
  EXPECT_GT(files, 4000);
}

TEST(PodSecurityChecks, AreSortedByLevelAndIdAndOverrideBaselineChecks) {
  const auto table = check_table();
  for (std::size_t i = 1; i < table.size(); ++i) {
    const CheckRow &before = table[i - 1], &row = table[i];
    EXPECT_LT(std::tuple(before.level, before.id, before.since), std::tuple(row.level, row.id, row.since)) << row.id;
  }
  for (const CheckRow& row : table) {
    const bool known = std::any_of(table.begin(), table.end(),
                                   [&](const CheckRow& each) { return each.id == row.overrides && each.level == Level::kBaseline; });
    EXPECT_TRUE(row.overrides.empty() || (known && row.level == Level::kRestricted)) << row.id;
  }
}

}  // namespace
}  // namespace backplane::admission::podsecurity

#include "admission/admission_config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

class AdmissionConfigTest : public ::testing::Test {
 protected:
  AdmissionConfigTest() : folder_(std::filesystem::temp_directory_path() / ("admission-config-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~AdmissionConfigTest() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string problem(const std::string& text) {
    auto parsed = parse_admission_configuration(text, "/x/config.yaml");
    return parsed.ok() ? "" : parsed.status().message();
  }
  std::filesystem::path folder_;
  const std::string head_ = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";
  const std::string where_ = "unable to read admission control configuration from \"/x/config.yaml\": ";
};

TEST_F(AdmissionConfigTest, APluginGetsItsInlineConfigurationOrTheNamedFile) {
  write("limits.yaml", "kind: Limits\nlimits: [1, 2]\n");
  const auto path = write("admission.yaml",
                          head_ + "plugins:\n- name: A\n  configuration: {kind: X, count: 1}\n- name: B\n  path: limits.yaml\n- name: C\n");
  auto read = read_admission_configuration(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].config.configuration, R"({"kind":"X","count":1})");
  EXPECT_EQ((*read)[1].name, "B");
  EXPECT_EQ((*read)[1].config.configuration, R"({"kind":"Limits","limits":[1,2]})");
  EXPECT_EQ((*read)[2].config.configuration, "");
}

TEST_F(AdmissionConfigTest, AnInvalidConfigurationIsRefusedWithAReason) {
  EXPECT_EQ(problem("apiVersion: v1\nkind: Pod\n"), where_ + "it is not an AdmissionConfiguration of apiserver.config.k8s.io/v1");
  EXPECT_EQ(problem("[]"), where_ + "it is not an AdmissionConfiguration of apiserver.config.k8s.io/v1");
  EXPECT_EQ(problem(head_ + "plugin: []\n"), where_ + "unknown field \"plugin\"");
  EXPECT_EQ(problem(head_ + "plugins:\n- name: A\n  config: {}\n"), where_ + "unknown field \"plugins[].config\"");
  EXPECT_EQ(problem(head_ + "plugins:\n- path: a\n"), where_ + "each of plugins must have a name");
  EXPECT_EQ(problem(head_ + "plugins:\n- name: A\n- name: A\n"), where_ + "plugin \"A\" occurs twice");
  EXPECT_EQ(problem(head_ + "plugins:\n- name: A\n  path: absent\n"),
            where_ + "plugin \"A\": cannot open /x/absent: no such file or directory");
  EXPECT_NE(problem("a: [").find(where_), std::string::npos);
  EXPECT_EQ(read_admission_configuration("/absent").status().message(),
            "unable to read admission control configuration from \"/absent\": cannot open /absent: no such file or directory");
}

}  // namespace
}  // namespace backplane

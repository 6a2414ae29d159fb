#include "plugin/plugin_history.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

class History : public ::testing::Test {
 protected:
  History() { std::filesystem::create_directories(folder_); }
  ~History() override { std::filesystem::remove_all(folder_); }
  void crash(const std::string& plugin, const std::string& digest) {
    std::ofstream(folder_ + "/plugin-crash") << "SIGSEGV\t" << plugin << "\t1.2.3\t/p/x.so\t" << digest
                                             << "\t/p/x.so+0x10\tprovision()\tplugin-calls\n";
  }
  PluginHistory open() const { return PluginHistory::open(folder_); }

  const std::string folder_ = std::filesystem::temp_directory_path() / ("history-" + std::to_string(::getpid()));
};

TEST_F(History, ACrashLeavesTheFileOutAndAnotherFileDoesNotCount) {
  crash("acme.io/x", "aa");
  const auto history = open();
  const PluginCrash* found = history.quarantine_of("acme.io/x", "aa");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->version, "1.2.3");
  EXPECT_EQ(found->until - found->time, std::chrono::minutes(10));
  EXPECT_NE(crash_text(*found).find("(SIGSEGV in provision() at /p/x.so+0x10)"), std::string::npos) << crash_text(*found);
  EXPECT_EQ(history.quarantine_of("acme.io/x", "bb"), nullptr);
  EXPECT_EQ(history.quarantine_of("acme.io/y", "aa"), nullptr);
}

TEST_F(History, ItIsRememberedAndEveryFurtherCrashOfTheSameFileDoublesTheTime) {
  crash("x", "aa");
  (void)open();
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/plugin-crash"));
  ASSERT_NE(open().quarantine_of("x", "aa"), nullptr);
  EXPECT_FALSE(open().last_crash());
  crash("x", "aa");
  const auto history = open();
  EXPECT_TRUE(history.last_crash());
  const PluginCrash* second = history.quarantine_of("x", "aa");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->count, 2);
  EXPECT_EQ(second->until - second->time, std::chrono::minutes(20));
  crash("x", "bb");
  EXPECT_EQ(open().quarantine_of("x", "bb")->count, 1) << "another file begins anew";
}

TEST_F(History, ClearQuarantineLiftsIt) {
  crash("x", "aa");
  open().clear_quarantine("x");
  EXPECT_EQ(open().quarantine_of("x", "aa"), nullptr);
}

TEST_F(History, ACrashOfNoPluginLeavesNothingOut) {
  std::ofstream(folder_ + "/plugin-crash") << "SIGSEGV\t\t\t\t\t\t\tio\n";
  const auto history = open();
  ASSERT_TRUE(history.last_crash());
  EXPECT_EQ(history.quarantine_of("", ""), nullptr);
}

TEST_F(History, StartupsThatDoNotEndAreCounted) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(open().begin_startup(), i);
  open().end_startup();
  EXPECT_EQ(open().begin_startup(), 0u);
}

TEST_F(History, FilesThatHavePassedAProbeAreRemembered) {
  EXPECT_FALSE(open().has_probed("aa"));
  open().note_probed({"aa", "bb"});
  EXPECT_TRUE(open().has_probed("bb"));
}

TEST_F(History, FilesWhoseDocumentsAreCheckedAreRememberedByTheSameBuildOnly) {
  auto history = open();
  (void)history.begin_startup();
  history.note_checked("aa");
  EXPECT_FALSE(open().has_checked("aa")) << "it is written with the end of the startup";
  history.end_startup();
  EXPECT_TRUE(open().has_checked("aa"));
  EXPECT_FALSE(open().has_checked("bb"));
  std::ofstream(folder_ + "/plugins.json") << R"({"checked":["aa"],"checkedBy":"another build"})";
  EXPECT_FALSE(open().has_checked("aa"));
}

TEST_F(History, AFileThatIsNoHistoryCountsAsEmpty) {
  std::ofstream(folder_ + "/plugins.json") << "[not json";
  std::ofstream(folder_ + "/plugin-crash") << "half a li";
  auto history = open();
  EXPECT_FALSE(history.last_crash());
  EXPECT_EQ(history.begin_startup(), 0u);
}

TEST(HistoryWithoutDirectory, KeepsNothing) {
  auto history = PluginHistory::open("");
  EXPECT_EQ(history.begin_startup(), 0u);
  EXPECT_EQ(history.crash_file(), -1);
}

}  // namespace
}  // namespace backplane

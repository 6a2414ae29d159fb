#include "backplane/kit/watched_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "fake_host.hpp"

namespace backplane::kit {
namespace {

struct WatchedFileTest : ::testing::Test {
  WatchedFileTest() : folder(std::filesystem::temp_directory_path() / ("watched-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    path = (folder / "config").string();
  }
  ~WatchedFileTest() override {
    stop.fire();
    turns.run_until_idle(true);
    std::filesystem::remove_all(folder);
  }

  void write(const std::string& text) {
    const std::string next = path + ".next";
    std::ofstream(next) << text;
    std::filesystem::rename(next, path);
  }
  void watch(std::string current, std::chrono::milliseconds full = std::chrono::hours(1)) {
    turns.start(watch_file(
        stop, {path, std::chrono::milliseconds(1), full}, std::move(current), [this](std::string text) { return apply(std::move(text)); },
        [this](const Status& status) { failures.push_back(status.message()); }));
  }
  Task<bool> apply(std::string text) {
    seen.push_back(std::move(text));
    co_return settles;
  }

  std::filesystem::path folder;
  std::string path;
  test::TurnExecutor turns;
  test::FakeSignal stop;
  bool settles = true;
  std::vector<std::string> seen, failures;
};

TEST_F(WatchedFileTest, AChangeSinceTheFirstReadingIsNoticedAtOnce) {
  write("two");
  watch("one");
  EXPECT_EQ(seen, std::vector<std::string>{"two"});
}

TEST_F(WatchedFileTest, EachContentIsPassedOnce) {
  write("one");
  watch("one");
  turns.fire_timers();
  EXPECT_TRUE(seen.empty());
  write("two");
  turns.fire_timers();
  turns.fire_timers();
  EXPECT_EQ(seen, std::vector<std::string>{"two"});
  write("one");
  turns.fire_timers();
  EXPECT_EQ(seen, (std::vector<std::string>{"two", "one"}));
}

TEST_F(WatchedFileTest, ARewrittenFileWithTheSameContentIsNoChange) {
  write("one");
  watch("one");
  write("one");
  turns.fire_timers();
  EXPECT_TRUE(seen.empty());
}

TEST_F(WatchedFileTest, AChangeThatDidNotTakeEffectIsRepeated) {
  settles = false;
  write("two");
  watch("one", std::chrono::milliseconds(0));
  turns.fire_timers();
  settles = true;
  turns.fire_timers();
  turns.fire_timers();
  EXPECT_EQ(seen, (std::vector<std::string>{"two", "two", "two"}));
}

TEST_F(WatchedFileTest, AMissingFileIsReportedOnceAndReadWhenItIsBack) {
  write("one");
  watch("one");
  std::filesystem::remove(path);
  turns.fire_timers();
  turns.fire_timers();
  EXPECT_EQ(failures, std::vector<std::string>{"open " + path + ": no such file or directory"});
  write("two");
  turns.fire_timers();
  EXPECT_EQ(seen, std::vector<std::string>{"two"});
}

TEST_F(WatchedFileTest, ALinkThatIsReplacedCountsAsAChange) {
  for (const char* version : {"a", "b"}) {
    std::filesystem::create_directory(folder / version);
    std::ofstream(folder / version / "config") << version;
  }
  std::filesystem::create_symlink(folder / "a", folder / "data");
  std::filesystem::create_symlink(folder / "data" / "config", path);
  watch("a");
  EXPECT_TRUE(seen.empty());
  std::filesystem::create_symlink(folder / "b", folder / "data.next");
  std::filesystem::rename(folder / "data.next", folder / "data");
  turns.fire_timers();
  EXPECT_EQ(seen, std::vector<std::string>{"b"});
}

TEST_F(WatchedFileTest, AFileOverTheLimitIsRefused) {
  write("12345");
  EXPECT_EQ(*read_bounded_file(path, 5), "12345");
  EXPECT_EQ(read_bounded_file(path, 4).status().message(), "read " + path + ": the file has more than 4 bytes");
}

}  // namespace
}  // namespace backplane::kit

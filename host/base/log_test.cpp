#include "base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace backplane {
namespace {

// The texts that `write` logs to standard output and to standard error.
template <class Write>
std::pair<std::string, std::string> logged(Write write) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  write();
  flush_logs();
  std::string output = ::testing::internal::GetCapturedStdout();
  return {std::move(output), ::testing::internal::GetCapturedStderr()};
}

// The least severe level that the logger writes.
LogLevel level_of(const FolderLog& log) {
  LogLevel found = LogLevel::kCritical;
  for (const auto level : {LogLevel::kError, LogLevel::kWarn, LogLevel::kInfo, LogLevel::kDebug, LogLevel::kTrace}) {
    if (log.should_log(level)) found = level;
  }
  return found;
}

struct Log : ::testing::Test {
  ~Log() override {
    set_log_modules({});
    set_log_form({});
    set_log_level("info");
  }
};

TEST_F(Log, ModulesHaveALevelOfTheirOwn) {
  auto& early = folder_logger("plugin/early");
  set_log_modules({{"plugin/*", "debug"}, {"plugin/late", "trace"}});
  auto& late = folder_logger("plugin/late");
  auto& other = folder_logger("other");
  EXPECT_EQ(level_of(early), LogLevel::kDebug);
  EXPECT_EQ(level_of(late), LogLevel::kTrace) << "made afterwards, and the last pattern that fits wins";
  EXPECT_EQ(level_of(other), LogLevel::kInfo);
  set_log_level("warn");
  EXPECT_EQ(level_of(early), LogLevel::kDebug);
  EXPECT_EQ(level_of(other), LogLevel::kWarn);
}

TEST_F(Log, DetailsLookLikeInfoLinesAndNeedTheirLevel) {
  auto& details = folder_details("split");
  const auto both = [&] {
    details.info("a step");
    folder_logger("split").info("the end");
  };
  const auto count = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(count(logged(both).second), 1);
  set_log_level("details");
  const std::string lines = logged(both).second;
  EXPECT_EQ(count(lines), 2) << lines;
  EXPECT_NE(lines.find("I split a step\n"), std::string::npos) << lines;
  set_log_level("debug");
  EXPECT_EQ(count(logged(both).second), 2);
  set_log_level("info");
  set_log_modules({{"spl*", "details"}});
  EXPECT_EQ(count(logged(both).second), 2);
}

TEST_F(Log, SplitStreamsHaveErrorsApart) {
  auto& logger = folder_logger("split");
  const auto both = [&] {
    logger.info("went well");
    logger.error("went wrong");
  };
  auto [output, errors] = logged(both);
  EXPECT_EQ(output, "");
  EXPECT_NE(errors.find("I split went well\n"), std::string::npos) << errors;
  set_log_form({.json = false, .split = true});
  std::tie(output, errors) = logged(both);
  EXPECT_NE(output.find("I split went well\n"), std::string::npos) << output;
  EXPECT_EQ(output.find("went wrong"), std::string::npos);
  EXPECT_NE(errors.find("E split went wrong\n"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("went well"), std::string::npos);
  set_log_form({.json = true, .split = true});
  std::tie(output, errors) = logged(both);
  EXPECT_NE(output.find("\"msg\":\"went well\""), std::string::npos) << output;
  EXPECT_NE(errors.find("\"msg\":\"went wrong\""), std::string::npos) << errors;
}

TEST_F(Log, EachServerHasItsLevelsAndItsForm) {
  const auto one = std::make_unique<ServerIdentity>(), two = std::make_unique<ServerIdentity>();
  auto& logger = folder_logger("servers");
  const auto as = [](ServerSlot slot, auto run) {
    const ServerScope server(slot);
    run();
  };
  const auto lines = [&](ServerSlot slot) {
    return logged([&] {
             as(slot, [&] {
               logger.debug("a detail");
               folder_details("servers").info("a step");
               logger.info("the end");
             });
           })
        .second;
  };
  as(one->slot(), [] { set_log_level("debug"); });
  EXPECT_NE(lines(kNoServer).find("a detail"), std::string::npos) << "one server: the process's log is its log";
  as(two->slot(), [] { set_log_level("info"); });
  EXPECT_NE(lines(one->slot()).find("D servers a detail\n"), std::string::npos);
  EXPECT_NE(lines(one->slot()).find("I servers a step\n"), std::string::npos);
  EXPECT_EQ(lines(two->slot()).find("a detail"), std::string::npos);
  EXPECT_EQ(lines(two->slot()).find("a step"), std::string::npos);
  EXPECT_NE(lines(two->slot()).find("I servers the end\n"), std::string::npos);
  as(two->slot(), [] {
    set_log_form({.json = true});
    set_log_modules({{"serv*", "error"}});
  });
  EXPECT_NE(lines(one->slot()).find("I servers the end\n"), std::string::npos);
  EXPECT_EQ(lines(two->slot()), "");
  as(two->slot(), [] { set_log_modules({}); });
  EXPECT_NE(lines(two->slot()).find(R"("msg":"the end")"), std::string::npos);
  for (const auto* server : {one.get(), two.get()}) end_server_log(server->slot());
  set_log_level("info");
  EXPECT_EQ(level_of(logger), LogLevel::kInfo) << "no server has a more verbose level";
  EXPECT_EQ(lines(one->slot()).find("a detail"), std::string::npos) << "the next server of the slot begins with the log of the process";
}

// The settings of one server change while threads of another server log.
TEST_F(Log, ServersAreSetWhileOthersLog) {
  const ServerIdentity one, two;
  {
    const ServerScope server(two.slot());
    set_log_level("info");
  }
  const auto text = logged([&] {
    std::thread other([slot = two.slot()] {
      const ServerScope server(slot);
      for (int i = 0; i < 200; ++i) folder_logger("busy").info("line");
    });
    const ServerScope server(one.slot());
    for (int i = 0; i < 200; ++i) {
      set_log_level(i % 2 == 0 ? "debug" : "warn");
      set_log_form({.json = i % 2 == 0});
      folder_logger("new" + std::to_string(i)).error("line");
    }
    other.join();
  });
  EXPECT_EQ(std::count(text.second.begin(), text.second.end(), '\n'), 400);
  for (const auto* server : {&one, &two}) end_server_log(server->slot());
}

}  // namespace
}  // namespace backplane

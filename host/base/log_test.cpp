#include "base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace backplane {
namespace {

// Both streams of what `write` logs: standard output, standard error.
template <class Write>
std::pair<std::string, std::string> logged(Write write) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  write();
  flush_logs();
  std::string output = ::testing::internal::GetCapturedStdout();
  return {std::move(output), ::testing::internal::GetCapturedStderr()};
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
  EXPECT_EQ(early.level(), spdlog::level::debug);
  EXPECT_EQ(late.level(), spdlog::level::trace) << "made afterwards, and the last pattern that fits wins";
  EXPECT_EQ(other.level(), spdlog::level::info);
  set_log_level("warn");
  EXPECT_EQ(early.level(), spdlog::level::debug);
  EXPECT_EQ(other.level(), spdlog::level::warn);
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

}  // namespace
}  // namespace backplane

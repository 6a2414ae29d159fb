#include "plugin/plugin_status.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

std::string listed(const PluginStatus& status) { return statuses_as_text(Array{status_to_json(status)}); }

TEST(PluginStatusText, ARunnerInQuarantineIsQuarantinedUntilItRunsAgain) {
  PluginStatus status;
  status.name = "stock";
  status.version = "1.0.0";
  status.state = PluginState::kCommitted;
  status.placement = Placement::kRunner;
  status.process.emplace();
  status.process->state = runner::RunnerState::kQuarantined;
  EXPECT_EQ(state_text(status), "Quarantined");
  EXPECT_NE(listed(status).find("stock  1.0.0    Quarantined  0      runner/-"), std::string::npos) << listed(status);
  EXPECT_NE(listed(status).find("in quarantine until "), std::string::npos) << listed(status);
  status.process->state = runner::RunnerState::kUp;
  EXPECT_NE(listed(status).find("stock  1.0.0    Committed  "), std::string::npos) << listed(status);
  status.process->state = runner::RunnerState::kQuarantined;
  status.state = PluginState::kDisabled;
  EXPECT_EQ(state_text(status), "Disabled");
}

}  // namespace
}  // namespace backplane

#include "base/cpu_limit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

class CpuLimit : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  const std::string root = std::filesystem::temp_directory_path() / ("cpu-limit-" + std::to_string(getpid()));
};

TEST_F(CpuLimit, WithoutAGroupOrAQuotaThereIsNone) {
  EXPECT_EQ(cpu_quota(root), std::nullopt);
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(cpu_quota(root), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root), std::nullopt);
}

TEST_F(CpuLimit, TheSmallestQuotaOfAGroupAndThoseAboveItHolds) {
  write("/proc/self/cgroup", "0::/pods/one\n");
  write("/sys/fs/cgroup/pods/one/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/pods/cpu.max", "350000 100000\n");
  EXPECT_EQ(cpu_quota(root), 3.5);
  write("/sys/fs/cgroup/pods/one/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(root), 0.5);
}

TEST_F(CpuLimit, TheFirstVersionOfControlGroupsIsReadToo) {
  write("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n1:name=systemd:/x\n");
  write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root), std::nullopt);
  write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpu_quota(root), 2.0);
}

TEST_F(CpuLimit, AQuotaCountsUpAndLeavesTwo) {
  EXPECT_EQ(usable_cores(8, std::nullopt), 8u);
  EXPECT_EQ(usable_cores(0, std::nullopt), 1u);
  EXPECT_EQ(usable_cores(8, 3.5), 4u);
  EXPECT_EQ(usable_cores(8, 0.5), 2u);
  EXPECT_EQ(usable_cores(1, 0.5), 1u);
  EXPECT_EQ(usable_cores(4, 16.0), 4u);
}

}  // namespace
}  // namespace backplane

#include "storage/memory_storage.hpp"

#include "storage/storage_conformance.hpp"

namespace backplane {
namespace {

BackendMaker memory() {
  return {"Memory", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> { return make_memory_storage(); }};
}

INSTANTIATE_TEST_SUITE_P(Memory, StorageConformance, testing::Values(memory()), maker_name);

TEST(LeaseTable, ReturnsTheKeysOfExpiredLeasesOnly) {
  const LeaseTable::Time now{};
  LeaseTable leases;
  leases.grant(1, now + std::chrono::seconds(10));
  leases.grant(2, now + std::chrono::seconds(5));
  leases.attach(1, "/a");
  leases.attach(2, "/b");
  leases.attach(2, "/c");
  leases.detach(2, "/c");
  leases.attach(3, "/nobody");
  EXPECT_EQ(leases.next_expiry(), now + std::chrono::seconds(5));
  EXPECT_TRUE(leases.take_due(now + std::chrono::seconds(4)).empty());
  const auto due = leases.take_due(now + std::chrono::seconds(5));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].id, 2);
  EXPECT_EQ(due[0].keys, std::vector<std::string>{"/b"});
  EXPECT_FALSE(leases.has(2));
  EXPECT_TRUE(leases.has(1));
}

TEST(PrefixEnd, IsTheFirstKeyBehindAllThatStartWithThePrefix) {
  EXPECT_EQ(prefix_end("/a/"), "/a0");
  EXPECT_EQ(prefix_end(std::string("a\xff", 2)), "b");
}

}  // namespace
}  // namespace backplane

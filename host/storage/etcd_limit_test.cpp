#include "storage/etcd_limit.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

constexpr const char* kKey = "/registry/roles/default/a";

Status check(std::size_t in_etcd) {
  return check_etcd_limit(kKey, 4'000'000, [in_etcd] { return Result<std::size_t>(in_etcd); });
}

// The sizes were measured with kube-apiserver 1.36.3 and etcd.
TEST(EtcdLimit, TheLastSizeThatFitsIsEtcds) {
  EXPECT_TRUE(check(1'572'775).ok());
  EXPECT_EQ(check(1'572'776).message(), "etcdserver: request is too large");
  EXPECT_EQ(check(1'572'776).code(), 500);
}

TEST(EtcdLimit, MessagesThatEtcdsClientRefusesHaveItsErrorText) {
  EXPECT_EQ(check(2'097'135).message(),
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097209 vs. 2097152)");
  EXPECT_EQ(check(2'090'135).message(), "etcdserver: request is too large");
}

TEST(EtcdLimit, OrdinaryValuesAreNotEncodedForIt) {
  const auto never = []() -> Result<std::size_t> { return internal_error("asked"); };
  EXPECT_TRUE(check_etcd_limit(kKey, 1'500'000, never).ok());
  EXPECT_EQ(check_etcd_limit(kKey, 1'600'000, never).message(), internal_error("asked").message());
}

}  // namespace
}  // namespace backplane

#include "call_counts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backplane/core/metrics.hpp"

namespace backplane::etcd {
namespace {

constexpr Method kMethod{MethodId::kLeaseGrant, "etcdserverpb.Test", "Counted", "/etcdserverpb.Test/Counted"};

double value_of(const std::string& name, const std::vector<std::string>& labels) {
  for (const Metric::Snapshot& each : Metric::all()) {
    if (each.name != name) continue;
    const auto found = each.series.find(labels);
    if (found != each.series.end()) return found->second.value;
  }
  return -1;  // there is no such series
}

TEST(CallCounts, EachStoreAddsToTheSeriesOfTheMethod) {
  const std::vector<std::string> labels = {"Counted", "etcdserverpb.Test", "unary"};
  const auto handled = [](const char* code) {
    return value_of("grpc_client_handled_total", {code, "Counted", "etcdserverpb.Test", "unary"});
  };
  CallCounts one, other;
  EXPECT_EQ(value_of("grpc_client_started_total", labels), -1) << "a series is created by its first call";
  for (int i = 0; i < 3; ++i) one.started(kMethod);
  other.started(kMethod);
  one.sent(kMethod);
  one.received(kMethod);
  EXPECT_EQ(value_of("grpc_client_started_total", labels), 4);
  EXPECT_EQ(value_of("grpc_client_msg_sent_total", labels), 1);
  EXPECT_EQ(value_of("grpc_client_msg_received_total", labels), 1);
  for (int i = 0; i < 2; ++i) one.handled(kMethod, {});
  one.handled(kMethod, {Code::kNotFound, ""});
  EXPECT_EQ(handled("OK"), 2);
  EXPECT_EQ(handled("NotFound"), 1);
}

}  // namespace
}  // namespace backplane::etcd

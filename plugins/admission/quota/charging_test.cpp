// Writes that wait for their turn in a namespace.
#include <gtest/gtest.h>

#include "backplane/core/meta.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "fake_host.hpp"
#include "quota/resource_quota.hpp"

namespace backplane::admission::quota {
namespace {

using BegunPod = Result<std::unique_ptr<BegunWrite>>;

class ChargingTest : public ::testing::Test {
 protected:
  ChargingTest() {
    ResourceConfig config;
    config.resource = "resourcequotas";
    quotas_ = std::make_shared<test::FakeStore>(std::move(config));
    host_.served["resourcequotas"] = quotas_;
    services_ = std::make_shared<Services>(host_);
    plugin_ = *make_resource_quota(*services_, {});
    host_.spawn("informers", Services::run(services_));
    host_.all_groups.fire();
    host_.turns.run_until_idle();
  }
  ~ChargingTest() override {
    host_.stop.fire();
    host_.turns.run_until_idle(true);
  }
  void put_quota(const std::string& name, const std::string& status) {
    quotas_->put(json::parse(R"({"metadata":{"name":")" + name + R"(","namespace":"team"},"status":)" + status + "}").get_object(),
                 WatchEvent::Type::kAdded);
    host_.turns.run_until_idle();
  }
  void begin(BegunPod& out) { host_.turns.start(keep(plugin_->begin(attributes_), out)); }
  static Task<void> keep(Task<BegunPod> beginning, BegunPod& out) { out = co_await std::move(beginning); }
  static Task<void> finish(BegunWrite& write) {
    auto finishing = write.finish(false);
    co_await std::move(finishing);
  }
  static AdmissionAttributes new_pod(Object& pod) {
    AdmissionAttributes attributes;
    attributes.resource = {"", "v1", "pods"};
    attributes.kind = {"", "v1", "Pod"};
    attributes.ns = "team";
    attributes.name = "p";
    attributes.object = &pod;
    return attributes;
  }

  test::FakeHost host_;
  std::shared_ptr<test::FakeStore> quotas_;
  std::shared_ptr<Services> services_;
  std::shared_ptr<AdmissionPlugin> plugin_;
  Object pod_ = json::parse(R"({"metadata":{"name":"p","namespace":"team"},"spec":{"containers":[{"name":"c"}]}})").get_object();
  const AdmissionAttributes attributes_ = new_pod(pod_);
};

TEST_F(ChargingTest, AQuotaThatComesWhileAWriteWaitsCounts) {
  put_quota("a", R"({"hard":{"pods":"9"},"used":{"pods":"0"}})");
  BegunPod first{nullptr}, second{nullptr};
  begin(first);
  host_.turns.run_until_idle();
  ASSERT_TRUE(first.ok()) << first.status().message();
  ASSERT_NE(*first, nullptr);
  begin(second);
  put_quota("b", R"({"hard":{"pods":"9"}})");
  host_.turns.start(finish(**first));
  host_.turns.run_until_idle();
  EXPECT_EQ(second.status().message(), "pods \"p\" is forbidden: status unknown for quota: b, resources: pods");
}

TEST_F(ChargingTest, AWriteThatNoQuotaCountsDoesNotWait) {
  put_quota("a", R"({"hard":{"services":"9"},"used":{"services":"0"}})");
  BegunPod begun{internal_error("never ended")};
  begin(begun);
  host_.turns.run_until_idle();
  ASSERT_TRUE(begun.ok()) << begun.status().message();
  EXPECT_EQ(*begun, nullptr);
}

}  // namespace
}  // namespace backplane::admission::quota

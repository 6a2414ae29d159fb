#include "storage/measured_storage.hpp"

#include <gtest/gtest.h>

#include "backplane/core/metrics.hpp"
#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

const Metric::Series* series(const std::vector<Metric::Snapshot>& all, std::string_view name, const std::vector<std::string>& values) {
  for (const auto& metric : all) {
    if (metric.name != name) continue;
    const auto found = metric.series.find(values);
    return found == metric.series.end() ? nullptr : &found->second;
  }
  return nullptr;
}
double value(std::string_view name, const std::vector<std::string>& values) {
  const auto all = Metric::all();
  const Metric::Series* found = series(all, name, values);
  return found == nullptr ? 0 : found->value;
}

class MeasuredStorageTest : public ::testing::Test {
 protected:
  MeasuredStorageTest() {
    loop_.start();
    storage_.use_resource("/registry/deployments/", {"apps", "deployments"});
    storage_.use_resource("/registry/services/specs/", {"", "services"});
  }
  ~MeasuredStorageTest() override { loop_.stop(); }

  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }
  static TxnRequest put(std::string key, Revision at) {
    TxnRequest request;
    request.compares.push_back({"/registry.backplane/hold", 0});
    request.compares.push_back({key, at});
    request.puts.push_back({std::move(key), SharedBytes(std::string("x")), 0});
    return request;
  }
  static double requests(std::string operation, std::string group, std::string resource) {
    return value("etcd_requests_total", {std::move(operation), std::move(group), std::move(resource)});
  }

  IoLoop loop_{"test"};
  const std::unique_ptr<StorageBackend> backend_ = make_memory_storage();
  MeasuredStorage storage_{*backend_};
};

TEST_F(MeasuredStorageTest, EveryOperationIsCountedByWhatItIsAbout) {
  const std::string key = "/registry/deployments/n/d";
  const auto made = run(storage_.txn(put(key, 0)));
  ASSERT_TRUE(made.ok() && made->committed);
  EXPECT_EQ(requests("create", "apps", "deployments"), 1);
  ASSERT_TRUE(run(storage_.txn(put(key, made->revision)))->committed);
  EXPECT_EQ(requests("update", "apps", "deployments"), 1);
  RangeRequest get;
  get.start = key;
  ASSERT_TRUE(run(storage_.range(get)).ok());
  EXPECT_EQ(requests("get", "apps", "deployments"), 1);
  RangeRequest list;
  list.start = "/registry/services/specs/";
  list.end = "/registry/services/specs0";
  ASSERT_TRUE(run(storage_.range(list)).ok());
  EXPECT_EQ(requests("list", "", "services"), 1);
  TxnRequest remove;
  remove.removes.push_back(key);
  ASSERT_TRUE(run(storage_.txn(remove))->committed);
  EXPECT_EQ(requests("delete", "apps", "deployments"), 1);
  ASSERT_TRUE(run(storage_.txn(put("/registry/masterleases/10.0.0.1", 0))).ok());
  EXPECT_EQ(requests("create", "", "masterleases"), 1);
  const auto all = Metric::all();
  const Metric::Series* durations = series(all, "etcd_request_duration_seconds", {"get", "apps", "deployments"});
  ASSERT_NE(durations, nullptr);
  EXPECT_EQ(durations->count, 1U);
}

TEST_F(MeasuredStorageTest, ErrorsAreCountedAndFailedComparesAreNone) {
  ASSERT_FALSE(run(storage_.txn(put("/registry/services/specs/n/s", 99)))->committed);
  EXPECT_EQ(value("etcd_request_errors_total", {"update", "", "services"}), 0);
  ASSERT_FALSE(run(storage_.txn(put("", 0))).ok());
  EXPECT_EQ(value("etcd_request_errors_total", {"create", "", ""}), 1);
}

TEST_F(MeasuredStorageTest, EventsAndProgressAreCountedByResource) {
  auto watch = storage_.watch("/registry/", 0);
  ASSERT_TRUE(watch.ok());
  const double before = value("apiserver_storage_events_received_total", {"apps", "deployments"});
  ASSERT_TRUE(run(storage_.txn(put("/registry/deployments/n/e", 0)))->committed);
  ASSERT_EQ(run((*watch)->next())->events.size(), 1U);
  EXPECT_EQ(value("apiserver_storage_events_received_total", {"apps", "deployments"}), before + 1);
  EXPECT_EQ(value("etcd_bookmark_total", {"apps", "deployments"}), 0);
  // The key is outside the watched prefix, so the watch only gets a progress notification.
  ASSERT_TRUE(run(storage_.txn(put("/other", 0)))->committed);
  ASSERT_TRUE(run((*watch)->next())->events.empty());
  EXPECT_EQ(value("etcd_bookmark_total", {"apps", "deployments"}), 1);
  EXPECT_EQ(value("etcd_bookmark_total", {"", "services"}), 1);
}

}  // namespace
}  // namespace backplane

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metric_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace backplane {
namespace {

Metric::Snapshot find(const std::string& name) {
  for (Metric::Snapshot& each : Metric::all()) {
    if (each.name == name) return std::move(each);
  }
  return {};
}

TEST(MetricsTest, ANameIsOneMetricForAllPlugins) {
  Metric& first = Metric::counter("test_shared_total", "Shared.", {"a"});
  Metric& second = Metric::counter("test_shared_total", "Other words.", {"a"});
  EXPECT_EQ(&first, &second);
  first.add({"x"});
  second.add({"x"}, 2);
  second.add({"y"});
  const Metric::Snapshot all = find("test_shared_total");
  EXPECT_EQ(all.help, "Shared.");
  EXPECT_EQ(all.series.at({"x"}).value, 3);
  EXPECT_EQ(all.series.at({"y"}).value, 1);
}

TEST(MetricsTest, ABuildOfAPluginMayChangeTheLabelsOfAMetric) {
  Metric& first = Metric::counter("test_labels_total", "By a.", {"a"});
  first.add({"x"});
  Metric& second = Metric::counter("test_labels_total", "By b and c.", {"b", "c"});
  EXPECT_NE(&first, &second);
  second.add({"y", "z"});
  const Metric::Snapshot shown = find("test_labels_total");  // the program uses the second one only
  EXPECT_EQ(shown.labels, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(shown.series.at({"y", "z"}).value, 1);
}

// The file of the code is this test's program, so all of its metrics end.
TEST(MetricsTest, MetricsOfUnloadedCodeAreNotShown) {
  const auto ask = []() -> Metric& { return Metric::counter("test_unloaded_total", "Unloaded.", {"a"}); };
  Metric& before = ask();
  before.add({"x"});
  MetricCell* const cell = MetricCell::of(before, {"x"});
  ASSERT_EQ(find("test_unloaded_total").series.size(), 1U);
  (void)withdraw_metrics(nullptr);
  ASSERT_EQ(find("test_unloaded_total").series.size(), 1U);
  static const int in_this_program = 0;
  const auto cells = withdraw_metrics(&in_this_program);
  EXPECT_EQ(find("test_unloaded_total").name, "");
  cell->add(1);
  before.add({"late"});
  EXPECT_EQ(find("test_unloaded_total").name, "");
  ask().add({"y"}, 2);
  EXPECT_EQ(find("test_unloaded_total").series.at({"y"}).value, 2);
}

TEST(MetricsTest, ASuccessorContinuesTheMetricsThatItHasNotAskedForYet) {
  static const int in_this_program = 0;
  Metric& counted = Metric::counter("test_succeeded_total", "Succeeded.", {});
  counted.add({}, 3);
  (void)withdraw_metrics(&in_this_program, reinterpret_cast<const void*>(&std::snprintf));
  EXPECT_EQ(find("test_succeeded_total").series.at({}).value, 3);
  (void)withdraw_metrics(reinterpret_cast<const void*>(&std::snprintf));
  EXPECT_EQ(find("test_succeeded_total").name, "");
}

TEST(MetricsTest, WhatWasNeverCountedIsNotShown) {
  Metric::gauge("test_silent", "Silent.", {});
  EXPECT_EQ(find("test_silent").name, "");
  Metric::gauge("test_silent", "Silent.", {}).set({}, 4);
  EXPECT_EQ(find("test_silent").series.at({}).value, 4);
}

TEST(MetricsTest, AMeasureFallsIntoTheBucketThatItIsNotAbove) {
  Metric& times = Metric::histogram("test_seconds", "Seconds.", {}, exponential_bounds(1, 2, 3));
  for (const double seconds : {0.5, 1.0, 1.5, 4.0, 9.0}) times.observe({}, seconds);
  const Metric::Series series = find("test_seconds").series.at({});
  EXPECT_EQ(series.buckets, (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(series.count, 5U);
  EXPECT_EQ(series.value, 16);
}

TEST(MetricsTest, ASeriesIsFoundByAllOfItsLabels) {
  Metric& things = Metric::counter("test_labels_total", "Labels.", {"a", "b", "c"});
  things.add({"x", "", "z"});
  things.add({"x", "", "z"});
  things.add({"x", "z"});
  things.add({"x", "z", ""});
  things.add({"xz"});
  things.add({});
  const auto series = find("test_labels_total").series;
  EXPECT_EQ(series.at({"x", "", "z"}).value, 2);
  EXPECT_EQ(series.at({"x", "z", ""}).value, 2);
  EXPECT_EQ(series.at({"xz", "", ""}).value, 1);
  EXPECT_EQ(series.at({"", "", ""}).value, 1);
}

TEST(MetricsTest, SeriesAreBoundedAndForgotten) {
  Metric& many = Metric::counter("test_many_total", "Many.", {"n"});
  for (std::size_t i = 0; i < Metric::kMostSeries + 5; ++i) many.add({std::to_string(i)});
  EXPECT_EQ(find("test_many_total").series.size(), Metric::kMostSeries);
  many.forget({"0"});
  many.add({"new"});
  EXPECT_EQ(find("test_many_total").series.count({"new"}), 1U);
}

TEST(MetricsTest, ACellIsItsSeries) {
  Metric& sizes = Metric::histogram("test_cell_bytes", "Bytes.", {"kind"}, {10, 100});
  MetricCell* const cell = MetricCell::of(sizes, {"a"});
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell, MetricCell::of(sizes, {"a"}));
  cell->observe(50);
  sizes.observe({"a"}, 500);
  EXPECT_EQ(find("test_cell_bytes").series.at({"a"}).count, 2U);
  EXPECT_EQ(find("test_cell_bytes").series.at({"a"}).value, 550);
}

TEST(MetricsTest, AfterAResetASeriesIsShownWhenItIsCountedAgain) {
  Metric& total = Metric::counter("test_reset_total", "Things.", {"kind"});
  MetricCell* const cell = MetricCell::of(total, {"a"});
  cell->add();
  total.add({"b"});
  reset_metric(total);
  EXPECT_EQ(find("test_reset_total").series.size(), 0U);
  cell->add(2);
  EXPECT_EQ(find("test_reset_total").series.size(), 1U);
  EXPECT_EQ(find("test_reset_total").series.at({"a"}).value, 2);
  Metric& open = Metric::gauge("test_reset_open", "Things.", {});
  open.set({}, 3);
  reset_metric(open);
  EXPECT_EQ(find("test_reset_open").series.begin()->second.value, 3) << "what a gauge shows goes on";
}

struct Server {
  ServerIdentity identity;
  MetricRegistry metrics{identity.slot()};
  ServerSlot slot() const noexcept { return identity.slot(); }
};

TEST(MetricsTest, EachServerHasItsOwnValues) {
  Metric& total = Metric::counter("test_servers_total", "Things.", {"a"});
  Metric& open = Metric::gauge("test_servers_open", "Things.", {});
  const auto value = [](const std::string& name) {
    const auto series = find(name).series;
    return series.empty() ? -1.0 : series.begin()->second.value;
  };
  auto one = std::make_unique<Server>();
  const Server two;
  ASSERT_NE(one->slot(), two.slot());
  MetricCell* cell = nullptr;
  {
    const ServerScope counting(one->slot());
    total.add({"x"}, 3);
    open.set({}, 7);
    cell = MetricCell::of(total, {"x"});
    EXPECT_EQ(value("test_servers_total"), 3);
  }
  {
    const ServerScope counting(two.slot());
    EXPECT_EQ(value("test_servers_total"), -1);
    total.add({"x"}, 10);
    EXPECT_EQ(value("test_servers_total"), 10);
    reset_metric(total);
    EXPECT_EQ(value("test_servers_total"), -1) << "a reset is one of the calling thread's server";
    total.add({"x"});
  }
  EXPECT_EQ(current_server_slot(), 0U);
  EXPECT_EQ(value("test_servers_total"), 4) << "a thread that belongs to no server sees all servers";
  total.add({"x"}, 100);
  {
    const ServerScope counting(one->slot());
    EXPECT_EQ(value("test_servers_total"), 103) << "values of the process are exposed by each server";
  }
  const ServerSlot slot = one->slot();
  one.reset();
  const Server next;
  ASSERT_EQ(next.slot(), slot);
  cell->add(50);  // as a thread that still uses the slot of a server that has ended
  const ServerScope counting(next.slot());
  EXPECT_EQ(value("test_servers_total"), 100) << "a new server begins without values";
  EXPECT_EQ(value("test_servers_open"), -1);
}

TEST(MetricsTest, AServerBeyondTheLimitHasNoSlot) {
  std::vector<std::unique_ptr<ServerIdentity>> servers;
  for (std::size_t i = 0; i < kMostServers; ++i) servers.push_back(std::make_unique<ServerIdentity>());
  EXPECT_EQ(ServerIdentity().slot(), kNoServer);
  servers.pop_back();
  EXPECT_NE(ServerIdentity().slot(), kNoServer);
}

TEST(ServerSlot, ThreadsFindWhatTheirServerHas) {
  static PerServer<int> values;
  std::uint64_t number = 0;
  {
    const ServerIdentity one, two;
    for (const ServerIdentity* server : {&one, &two}) {
      const ServerScope scope(server->slot());
      EXPECT_EQ(values.here(), 0);
      values.here() = static_cast<int>(server->slot());
      EXPECT_NE(std::exchange(number, current_server_number()), current_server_number());
    }
    EXPECT_EQ(values.here(), 0) << "of the process";
    EXPECT_EQ(values.of(one.slot()), static_cast<int>(one.slot()));
    EXPECT_EQ(values.of(two.slot()), static_cast<int>(two.slot()));
  }
  EXPECT_EQ(current_server_number(), 0U);
  const ServerIdentity next;  // has the slot of a former server
  const ServerScope scope(next.slot());
  EXPECT_GT(current_server_number(), number);
}

// Regression: each count locked one mutex for all series of its metric.
TEST(MetricsTest, CountsOfManyThreadsAreAllThere) {
  Metric& times = Metric::histogram("test_shared_seconds", "Seconds.", {"thread", "more"}, {1});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&times, thread] {
      const std::string own = std::to_string(thread);
      for (int i = 0; i < 1000; ++i) {
        times.observe({own}, 0.5);
        times.observe({"all", "x"}, 2);
        times.observe({"passing", own}, 2);
        times.forget({"passing", own});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const Metric::Snapshot all = find("test_shared_seconds");
  EXPECT_EQ(all.series.at({"all", "x"}).count, 4000U);
  EXPECT_EQ(all.series.at({"all", "x"}).value, 8000);
  EXPECT_EQ(all.series.at({"2", ""}).buckets, std::vector<std::uint64_t>{1000});
  EXPECT_EQ(all.series.size(), 5U);
}

}  // namespace
}  // namespace backplane

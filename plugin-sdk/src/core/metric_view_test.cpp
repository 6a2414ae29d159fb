#include "backplane/core/metric_view.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metric_registry.hpp"

namespace backplane {
namespace {

// Returns one text for each series, such as "a/b=1*" for the series {"a", "b"} whose value is 1 and has changed.
std::vector<std::string> texts(const MetricView::Reading& reading) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    std::string text(reading.labels(i));
    std::replace(text.begin(), text.end(), '\0', '/');
    if (!text.empty()) text.pop_back();
    text += "=" + std::to_string(static_cast<int>(reading.value(i)));
    if (reading.changed()[i] != 0) text += "*";
    if (!reading.exposed(i)) text += " hidden";
    out.push_back(std::move(text));
  }
  return out;
}
std::vector<std::string> texts(MetricView& view) { return texts(view.read()); }
std::vector<std::uint32_t> former(MetricView& view) {
  const MetricView::Reading reading = view.read();
  return {reading.former().begin(), reading.former().end()};
}
using Texts = std::vector<std::string>;
using Places = std::vector<std::uint32_t>;

TEST(MetricView, AViewIsOfAMetricOfTheProcess) {
  const Metric& metric = Metric::gauge("test_view_first", "First.", {"a"});
  const auto all = MetricView::metrics();
  EXPECT_NE(std::find(all.begin(), all.end(), &metric), all.end());
  const MetricView view(metric);
  EXPECT_EQ(view.about().name, "test_view_first");
  EXPECT_EQ(view.about().labels, std::vector<std::string>{"a"});
}

TEST(MetricView, SeriesAreInTheOrderOfASnapshot) {
  Metric& metric = Metric::counter("test_view_order_total", "Order.", {"a", "b"});
  for (const char* a : {"b", "ab", "a", "", "a-"}) {
    for (const char* b : {"", "x", "-"}) metric.add({a, b});
  }
  Texts expected;
  for (const auto& snapshot : Metric::all()) {
    if (snapshot.name != "test_view_order_total") continue;
    for (const auto& [values, _] : snapshot.series) {
      expected.push_back(values[0] + (values[1].empty() ? "" : "/" + values[1]) + "=1");
    }
  }
  MetricView view(metric);
  EXPECT_EQ(texts(view), expected);
}

TEST(MetricView, AReadingReportsWhatHasChangedSinceThePreviousOne) {
  Metric& metric = Metric::counter("test_view_changes_total", "Changes.", {"a"});
  metric.add({"b"});
  metric.add({"d"});
  MetricView view(metric);
  EXPECT_EQ(former(view), (Places{MetricView::kNew, MetricView::kNew}));
  EXPECT_EQ(texts(view), (Texts{"b=1", "d=1"}));
  metric.add({"d"});
  EXPECT_EQ(texts(view), (Texts{"b=1", "d=2*"}));
  EXPECT_EQ(former(view), Places()) << "the same series";
  metric.add({"c"});
  metric.add({"b"});
  const MetricView::Reading reading = view.read();
  EXPECT_EQ(texts(reading), (Texts{"b=2*", "c=1", "d=2"}));
  EXPECT_EQ(Places(reading.former().begin(), reading.former().end()), (Places{0, MetricView::kNew, 1}));
}

TEST(MetricView, ASeriesThatIsCreatedAgainIsANewOne) {
  Metric& metric = Metric::counter("test_view_forgotten_total", "Forgotten.", {"a"});
  for (const char* a : {"a", "b", "c"}) metric.add({a});
  MetricView view(metric);
  EXPECT_EQ(texts(view).size(), 3U);
  metric.forget({"b"});
  EXPECT_EQ(former(view), (Places{0, 2}));
  metric.forget({"c"});
  metric.add({"c"});
  EXPECT_EQ(former(view), (Places{0, MetricView::kNew}));
}

TEST(MetricView, AnObservationThatAddsNothingToTheSumIsAChange) {
  Metric& metric = Metric::histogram("test_view_bytes", "Bytes.", {}, {1, 2});
  metric.observe({}, 0);
  MetricView view(metric);
  EXPECT_EQ(texts(view), Texts{"=0"});
  metric.observe({}, 0);
  metric.observe({}, 3);
  const MetricView::Reading reading = view.read();
  EXPECT_EQ(texts(reading), Texts{"=3*"});
  std::uint64_t counts[3];
  reading.buckets(0, counts);
  EXPECT_EQ(counts[0], 2U);
  EXPECT_EQ(counts[1], 0U);
  EXPECT_EQ(counts[2], 1U);
}

TEST(MetricView, AfterAResetASeriesIsExposedWhenItIsCountedAgain) {
  Metric& metric = Metric::counter("test_view_reset_total", "Reset.", {"a"});
  metric.add({"a"});
  metric.add({"b"});
  metric.add({"zero"}, 0);
  MetricView view(metric);
  EXPECT_EQ(texts(view), (Texts{"a=1", "b=1", "zero=0"}));
  reset_metric(metric);
  metric.add({"b"});
  EXPECT_EQ(texts(view), (Texts{"a=0* hidden", "b=1*", "zero=0* hidden"}));
  metric.add({"zero"}, 0);
  metric.add({"a"});
  EXPECT_EQ(texts(view), (Texts{"a=1*", "b=1", "zero=0 hidden"}));
}

TEST(MetricView, ThreadsSeeTheSeriesOfTheirServer) {
  Metric& total = Metric::counter("test_view_servers_total", "Things.", {"a"});
  Metric& open = Metric::gauge("test_view_servers_open", "Things.", {});
  MetricView totals(total), opened(open);
  total.add({"x"}, 100);
  open.set({}, 1);
  {
    const ServerIdentity identity;
    const MetricRegistry registry(identity.slot());
    const ServerScope scope(identity.slot());
    EXPECT_EQ(texts(totals), Texts{"x=100"});
    total.add({"x"}, 3);
    total.add({"y"}, 4);
    open.set({}, 7);
    EXPECT_EQ(texts(totals), (Texts{"x=103", "y=4"}));
    EXPECT_EQ(texts(opened), Texts{"=7"}) << "the value of the server, not that of the process";
    total.add({"x"});
    EXPECT_EQ(texts(totals), (Texts{"x=104*", "y=4"}));
  }
  EXPECT_EQ(texts(totals), Texts{"x=100"});
}

TEST(MetricView, CountingGoesOnDuringAReading) {
  Metric& metric = Metric::histogram("test_view_busy_seconds", "Busy.", {"a"}, {1});
  MetricCell* const cell = MetricCell::of(metric, {"x"});
  MetricView view(metric);
  std::thread counting([&] {
    for (int i = 0; i < 10'000; ++i) {
      cell->observe(0.5);
      metric.observe({"y"}, 2);
      metric.forget({"y"});
    }
  });
  std::uint64_t counts[2] = {};
  while (counts[0] < 10'000) {
    const MetricView::Reading reading = view.read();
    reading.buckets(0, counts);
  }
  counting.join();
  EXPECT_EQ(texts(view).size(), 1U);
}

}  // namespace
}  // namespace backplane

#include "app/metric_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/gunzip_for_test.hpp"
#include "app/metric_levels.hpp"
#include "app/sample_text.hpp"
#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metric_registry.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::size_t kAll = std::size_t{1} << 40;

std::string joined(const std::vector<SharedBytes>& chunks) {
  std::string out;
  for (const SharedBytes& chunk : chunks) out.append(chunk.view());
  return out;
}

// The lines that begin with `name`, and the HELP and TYPE lines whose name begins with `name`.
std::string lines_of(const std::string& text, const std::string& name) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string_view whole = line;
    if (line.starts_with("# ") && !name.ends_with(' ')) line.remove_prefix(7);
    if (line.starts_with(name)) out += whole;
    begin = end;
  }
  return out;
}

class FakeCache final : public ResourceCache {
 public:
  explicit FakeCache(std::size_t objects, Revision revision) : objects_(objects), revision_(revision) {}
  ObjectRef make_entry(const KeyValue&) const override { return nullptr; }
  ObjectRef peek(std::string_view) const override { return nullptr; }
  Task<Status> wait_current() override { co_return Status(); }
  Task<Result<ObjectRef>> get(std::string, std::string) override { co_return Status(); }
  Task<Result<ListResult>> list(CacheScope, ListOptions) override { co_return Status(); }
  Task<Result<std::unique_ptr<WatchStream>>> watch(CacheScope, ListOptions) override { co_return Status(); }
  bool ready() const noexcept override { return revision_ != 0; }
  Revision revision() const noexcept override { return revision_; }
  std::size_t size() const noexcept override { return objects_; }
  std::size_t bytes() const noexcept override { return objects_ * 100; }

 private:
  const std::size_t objects_;
  const Revision revision_;
};

class FakeHub final : public CacheHub {
 public:
  std::shared_ptr<ResourceCache> add(CacheConfig, bool) override { return std::exchange(next, nullptr); }
  void remove(std::string_view) override {}
  void retire(std::string_view) override {}
  void restore(std::string_view, const std::shared_ptr<ResourceCache>&) override {}
  Task<Status> start() override { co_return Status(); }
  Task<void> stop() override { co_return; }

  std::shared_ptr<ResourceCache> next;
};

class MetricPageTest : public ::testing::Test {
 protected:
  std::string text(MetricPage::For use) {
    auto used = page.use();
    EXPECT_TRUE(used);
    read(use);
    if (use == MetricPage::For::kText) {
      std::string out = joined(page.text());
      used.done();
      return out;
    }
    while (!page.pack(100'000)) continue;
    std::string out = gunzipped(page.gzip());
    EXPECT_EQ(page.text_size(), out.size());
    used.done();
    return out;
  }
  void read(MetricPage::For use) {
    page.read(use, caches);
    for (const MetricFamily& family : others) page.set(family);
    page.count(rules);
  }
  // The text, after a check that the compressed text, the plain text and the text of the samples are equal.
  std::string scrape() {
    const std::string packed = text(MetricPage::For::kGzip), plain = text(MetricPage::For::kText);
    EXPECT_EQ(packed, plain);
    auto used = page.use();
    for (const MetricFamily& family : page.samples(caches)) {
      std::string sampled;
      append_family(sampled, family);
      EXPECT_EQ(packed.find(sampled) != std::string::npos, !rules.takes_out(family.name)) << sampled;
    }
    used.done();
    return packed;
  }
  void add_other(const std::string& name, double value) {
    MetricFamily family{name, "[ALPHA] Other.", MetricType::Gauge, {}};
    family.metric.emplace_back().gauge.value = value;
    others.push_back(std::move(family));
  }
  // Adds the cache, or replaces it.
  void cache(const std::string& group, const std::string& resource, std::size_t objects, Revision revision) {
    CacheConfig config;
    config.prefix = "/registry/" + group + "/" + resource + "/";
    config.resource = {group, resource};
    hub.next = std::make_shared<FakeCache>(objects, revision);
    const std::string prefix = config.prefix;
    alive[prefix] = caches.add(std::move(config), false);
  }
  static MetricFamily constant() {
    MetricFamily family{"page_constant", "Constant.", MetricType::Gauge, {}};
    family.metric.emplace_back().gauge.value = 1;
    return family;
  }

  const ServerIdentity identity;
  const MetricRegistry registry{identity.slot()};
  const ServerScope scope{identity.slot()};
  MetricPage page{{constant()}, true, {false, {"events"}}};
  std::vector<MetricFamily> others;
  FakeHub hub;
  TrackedCaches caches{hub};
  std::map<std::string, std::shared_ptr<ResourceCache>> alive;
  MetricRules rules;
};

TEST_F(MetricPageTest, TheTextIsThatOfSamples) {
  Metric& counts = Metric::counter("page_things_total", "Things\nby kind.", {"kind", "group"});
  Metric& sizes = Metric::histogram("page_sizes", "[BETA] Sizes.", {"kind"}, {1, 10, 100});
  Metric& steps = Metric::histogram("apiserver_admission_step_admission_duration_seconds", "Steps.", {"type"}, {1});
  for (const char* kind : {"b", "a", "", "c \"quoted\""}) {
    counts.add({kind, "g"}, 3);
    counts.add({kind});
    sizes.observe({kind}, 5);
    sizes.observe({kind}, 500);
  }
  steps.observe({"validate"}, 0.5);
  const std::string scraped = scrape();

  std::vector<MetricFamily> families;
  for (const auto& metric : Metric::all()) {
    if (metric.name != "page_sizes" && metric.name != "page_things_total") continue;
    MetricFamily family{metric.name, metric.help, metric.kind == Metric::Kind::kCounter ? MetricType::Counter : MetricType::Histogram, {}};
    for (const auto& [values, series] : metric.series) {
      ClientMetric& out = family.metric.emplace_back();
      for (std::size_t i = 0; i < values.size(); ++i) out.label.push_back({metric.labels[i], values[i]});
      out.counter.value = series.value;
      out.histogram.sample_count = series.count;
      out.histogram.sample_sum = series.value;
      std::uint64_t below = 0;
      for (std::size_t i = 0; i < series.buckets.size(); ++i)
        out.histogram.bucket.push_back({below += series.buckets[i], metric.bounds[i]});
    }
    families.push_back(std::move(family));
  }
  mark_levels(families);
  ASSERT_EQ(families.size(), 2U);
  std::string expected;
  for (const std::string& piece : metrics_as_text(families)) expected += piece;
  EXPECT_EQ(lines_of(scraped, "page_sizes") + lines_of(scraped, "page_things_total"), expected);
  EXPECT_EQ(
      lines_of(scraped, "apiserver_admission_step_admission_duration_seconds_summary"),
      "# HELP apiserver_admission_step_admission_duration_seconds_summary [ALPHA] Admission sub-step latency summary in seconds, broken "
      "out for each operation and API resource and step type (validate or admit).\n"
      "# TYPE apiserver_admission_step_admission_duration_seconds_summary summary\n"
      "apiserver_admission_step_admission_duration_seconds_summary_sum{type=\"validate\"} 0.5\n"
      "apiserver_admission_step_admission_duration_seconds_summary_count{type=\"validate\"} 1\n");
}

TEST_F(MetricPageTest, ChangesAreShown) {
  Metric& counts = Metric::counter("page_changes_total", "Changes.", {"n"});
  MetricCell* const cell = MetricCell::of(counts, {"1"});
  cell->add();
  EXPECT_EQ(lines_of(scrape(), "page_changes_total{"), "page_changes_total{n=\"1\"} 1\n");
  cell->add();
  EXPECT_EQ(lines_of(scrape(), "page_changes_total{"), "page_changes_total{n=\"1\"} 2\n");
  counts.add({"0"});
  counts.add({"2"});
  EXPECT_EQ(lines_of(scrape(), "page_changes_total{"),
            "page_changes_total{n=\"0\"} 1\npage_changes_total{n=\"1\"} 2\npage_changes_total{n=\"2\"} 1\n");
  counts.forget({"0"});
  EXPECT_EQ(lines_of(scrape(), "page_changes_total{"), "page_changes_total{n=\"1\"} 2\npage_changes_total{n=\"2\"} 1\n");
  reset_metric(counts);
  EXPECT_EQ(lines_of(scrape(), "page_changes_total"), "") << "a metric without series is not shown";
  counts.add({"2"});
  EXPECT_EQ(lines_of(scrape(), "page_changes_total{"), "page_changes_total{n=\"2\"} 1\n");
}

TEST_F(MetricPageTest, SamplesAreThoseOfTheText) {
  Metric::counter("page_sampled_total", "Sampled.", {"kind", "group"}).add({"a"}, 3);
  Metric::histogram("page_sampled_sizes", "Sizes.", {}, {1, 10}).observe({}, 5);
  cache("apps", "deployments", 3, 9);
  scrape();
  std::map<std::string, MetricFamily> found;
  auto used = page.use();
  for (MetricFamily& family : page.samples(caches)) found[family.name] = std::move(family);
  used.done();
  EXPECT_EQ(found["page_sampled_total"].help, "[ALPHA] Sampled.");
  const ClientMetric& counter = found["page_sampled_total"].metric.at(0);
  EXPECT_EQ(counter.counter.value, 3);
  EXPECT_EQ(counter.label.size(), 2U) << "also an empty value has its label";
  const auto& histogram = found["page_sampled_sizes"].metric.at(0).histogram;
  EXPECT_EQ(histogram.sample_count, 1U);
  EXPECT_EQ(histogram.bucket.at(0).cumulative_count, 0U);
  EXPECT_EQ(histogram.bucket.at(1).cumulative_count, 1U);
  EXPECT_EQ(found["apiserver_resource_objects"].metric.at(0).gauge.value, 3);
}

// A scrape as text compresses nothing. The next compressed scrape must include what had changed before the scrape as text.
TEST_F(MetricPageTest, ScrapesWithoutCompressionDoNotHideChanges) {
  Metric& counts = Metric::counter("page_mixed_total", "Mixed.", {"n"});
  counts.add({"1"});
  text(MetricPage::For::kGzip);
  counts.add({"1"});
  cache("apps", "deployments", 3, 0);
  text(MetricPage::For::kText);
  page.samples(caches);
  EXPECT_EQ(lines_of(text(MetricPage::For::kGzip), "page_mixed_total{"), "page_mixed_total{n=\"1\"} 2\n");
  counts.add({"0"});
  cache("apps", "deployments", 4, 0);
  text(MetricPage::For::kText);
  const std::string now = text(MetricPage::For::kGzip);
  EXPECT_EQ(lines_of(now, "page_mixed_total{"), "page_mixed_total{n=\"0\"} 1\npage_mixed_total{n=\"1\"} 2\n");
  EXPECT_EQ(lines_of(now, "apiserver_storage_objects{"), "apiserver_storage_objects{resource=\"deployments.apps\"} 4\n");
}

TEST_F(MetricPageTest, CachesHaveASeriesEach) {
  cache("", "pods", 2, 7);
  cache("apps", "deployments", 3, 0);
  const std::string first = scrape();
  EXPECT_EQ(lines_of(first, "apiserver_watch_cache_bytes{"),
            "apiserver_watch_cache_bytes{prefix=\"/registry//pods/\"} 200\n"
            "apiserver_watch_cache_bytes{prefix=\"/registry/apps/deployments/\"} 300\n");
  EXPECT_EQ(lines_of(first, "apiserver_watch_cache_resource_version{"),
            "apiserver_watch_cache_resource_version{group=\"\",resource=\"pods\"} 7\n")
      << "the resource that is loaded";
  alive.erase("/registry//pods/");
  cache("apps", "daemonsets", 1, 9);
  cache("apps", "deployments", 4, 9);
  EXPECT_EQ(lines_of(scrape(), "apiserver_watch_cache_resource_version{"),
            "apiserver_watch_cache_resource_version{group=\"apps\",resource=\"daemonsets\"} 9\n"
            "apiserver_watch_cache_resource_version{group=\"apps\",resource=\"deployments\"} 9\n");
  alive.clear();
  EXPECT_EQ(lines_of(scrape(), "watch_cache_capacity"),
            "# HELP watch_cache_capacity [ALPHA] Events that a cache keeps for its watchers, by resource.\n"
            "# TYPE watch_cache_capacity gauge\n");
}

TEST_F(MetricPageTest, ResourcesWithoutACacheHaveNoSeriesOfCaches) {
  Metric& lists = Metric::counter("apiserver_cache_list_page_total", "Lists.", {"group", "resource"});
  lists.add({"", "events"});
  EXPECT_EQ(lines_of(scrape(), "apiserver_cache_list_page_total{"), "");
  lists.add({"", "a"});
  lists.add({"", "x"});
  cache("", "events", 1, 7);
  const std::string text = scrape();
  EXPECT_EQ(lines_of(text, "apiserver_cache_list_page_total{"),
            "apiserver_cache_list_page_total{group=\"\",resource=\"a\"} 1\n"
            "apiserver_cache_list_page_total{group=\"\",resource=\"x\"} 1\n");
  EXPECT_EQ(lines_of(text, "watch_cache_capacity{"), "");
  EXPECT_EQ(lines_of(text, "apiserver_watch_cache_bytes{"), "apiserver_watch_cache_bytes{prefix=\"/registry//events/\"} 100\n")
      << "it has no label with the resource";
  EXPECT_EQ(lines_of(text, "apiserver_storage_objects{"), "apiserver_storage_objects{resource=\"events\"} 1\n");
}

TEST_F(MetricPageTest, FamiliesAreSortedAndCounted) {
  add_other("zz_last", 1);
  add_other("aa_first", 2);
  const std::string all = scrape();
  EXPECT_TRUE(all.starts_with("# HELP aa_first [ALPHA] Other.\n# TYPE aa_first gauge\naa_first 2\n"));
  EXPECT_TRUE(all.ends_with("# HELP zz_last [ALPHA] Other.\n# TYPE zz_last gauge\nzz_last 1\n"));
  const auto alpha = [](const std::string& text) {
    return std::stoi(lines_of(text, "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} ").substr(71));
  };
  others.pop_back();
  const std::string fewer = scrape();
  EXPECT_EQ(lines_of(fewer, "aa_first"), "");
  EXPECT_EQ(alpha(fewer), alpha(all) - 1);
  rules = *MetricRules::make({{"zz_last", "apiserver_storage_objects", "page_constant"}, {}, {}, {}});
  scrape();
  const std::string disabled = scrape();
  EXPECT_EQ(lines_of(disabled, "page_constant"), "");
  EXPECT_EQ(lines_of(disabled, "zz_last"), "");
  EXPECT_EQ(lines_of(disabled, "apiserver_storage_objects"), "");
  EXPECT_EQ(lines_of(disabled, "disabled_metrics_total "), "disabled_metrics_total 3\n");
}

TEST_F(MetricPageTest, AFamilyIsKeptOrSet) {
  EXPECT_FALSE(page.keep("kept"));
  add_other("kept", 1);
  scrape();
  others.clear();
  auto used = page.use();
  page.read(MetricPage::For::kText, caches);
  EXPECT_TRUE(page.keep("kept"));
  page.count(rules);
  EXPECT_EQ(lines_of(joined(page.text()), "kept "), "kept 1\n");
  used.done();
  EXPECT_EQ(lines_of(scrape(), "kept"), "");
}

TEST_F(MetricPageTest, ReadingsAreObserved) {
  std::vector<std::string> seen;
  page.observe("page_observed_total", [&](const Metric::Snapshot& about, const MetricView::Reading& reading) {
    seen.push_back(about.name + " " + std::to_string(static_cast<int>(reading.value(0))) + (reading.changed()[0] != 0 ? " changed" : ""));
  });
  Metric& observed = Metric::counter("page_observed_total", "Observed.", {});
  observed.add({}, 2);
  text(MetricPage::For::kText);
  observed.add({});
  text(MetricPage::For::kGzip);
  EXPECT_EQ(seen, (std::vector<std::string>{"page_observed_total 2", "page_observed_total 3 changed"}));
}

TEST_F(MetricPageTest, OneScrapeAtATimeUsesThePage) {
  Metric::counter("page_used_total", "Used.", {}).add({});
  auto first = page.use();
  EXPECT_TRUE(first);
  EXPECT_FALSE(page.use());
  read(MetricPage::For::kGzip);
  page.pack(1);
  { const auto ended = std::move(first); }  // a scrape that was cancelled
  const std::string text = scrape();
  EXPECT_EQ(lines_of(text, "page_used_total "), "page_used_total 1\n");
  EXPECT_EQ(lines_of(text, "page_constant "), "page_constant 1\n");
}

}  // namespace
}  // namespace backplane

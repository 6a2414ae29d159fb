// The families of a MetricPage: OtherFamily with text of the caller, CachesFamily for the watch caches, RegisteredFamily for one registered
// metric.
//
// Thread-safety: belongs to one thread at a time.
// Errors:        none but std::bad_alloc.
#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cache_families.hpp"
#include "app/gzip_pieces.hpp"
#include "app/metric_levels.hpp"
#include "app/metric_lines.hpp"
#include "app/metric_page.hpp"
#include "app/metric_text.hpp"
#include "app/packed_rows.hpp"
#include "backplane/core/metric_view.hpp"

namespace backplane {

class PageFamily {
 public:
  explicit PageFamily(LevelCounts::Level level) : level(std::move(level)) {}
  virtual ~PageFamily() = default;

  // Reads the values and sets `shown`. It also makes the text, or renders what has changed for pack().
  virtual void read(MetricPage::For use) = 0;
  virtual void add_text(TextPieces& out) = 0;
  // As PackedRows::pack().
  virtual bool pack(PieceCompressor& compressor, std::size_t& most) = 0;
  virtual const TextSum& sum() const = 0;
  virtual void add_to(GzipAssembly& assembly) const = 0;
  // True if the text was set once and stays valid, also after a scrape that failed.
  virtual bool constant() const noexcept { return false; }

  const LevelCounts::Level level;
  bool shown = false;  // whether this scrape shows the family
};

// A family whose text the caller sets.
class OtherFamily final : public PageFamily {
 public:
  // `constant`: shown in each scrape, with the text that was set once. Others are shown if they have been set or kept since read().
  OtherFamily(LevelCounts::Level level, bool constant) : PageFamily(std::move(level)), constant_(constant) {}
  void set(std::string_view text);
  void keep() noexcept;
  bool constant() const noexcept override { return constant_; }
  bool stale() const noexcept { return !given_ && !constant_; }

  void read(MetricPage::For) override;
  void add_text(TextPieces& out) override;
  bool pack(PieceCompressor& compressor, std::size_t& most) override;
  const TextSum& sum() const override { return packed_.sum; }
  void add_to(GzipAssembly& assembly) const override;

 private:
  const bool constant_;
  std::string text_;
  bool given_ = false, dirty_ = true, changed_ = false, previously_changed_ = false;
  GzipPiece packed_;
};

class RowsFamily : public PageFamily {
 public:
  RowsFamily(LevelCounts::Level level, MetricLines lines) : PageFamily(std::move(level)), lines_(std::move(lines)) {}
  bool pack(PieceCompressor& compressor, std::size_t& most) override { return rows_.pack(compressor, most); }
  const TextSum& sum() const override { return rows_.sum(); }
  void add_to(GzipAssembly& assembly) const override { rows_.add_to(assembly); }
  void add_text(TextPieces& out) override;
  // Call it after read(For::kSamples).
  prometheus::MetricFamily take_samples();

 protected:
  using Samples = std::vector<prometheus::ClientMetric>;
  // Functions that append the text or the samples of a row. They may append nothing.
  struct Row {
    PackedRows::AppendRow append_text;
    std::function<void(std::size_t row, Samples& out)> append_sample;
  };
  // `changed` and `former`: as PackedRows::note() expects them.
  void render(MetricPage::For use, std::span<const std::uint8_t> changed, std::span<const std::uint32_t> former, const Row& row);
  // Name, help and type, without samples.
  virtual prometheus::MetricFamily describe() const = 0;

  const MetricLines lines_;

 private:
  PackedRows rows_;
  std::vector<std::string> text_;  // from read() to add_text()
  Samples samples_;                // from read() to take_samples()
};

// The caches of this scrape.
struct PageCaches {
  void read(const TrackedCaches& from);

  struct Row {
    std::string prefix;
    TrackedCaches::Totals totals;
  };
  std::vector<Row> rows;
  std::vector<std::uint32_t> former;    // the argument of PackedRows::note()
  std::array<bool, 3> field_changed{};  // by CacheFamily::Field: the field has changed in at least one row, or the list of rows has changed

 private:
  void read_row(TrackedCaches::Totals& totals, const ResourceCache& cache);
  void list(const TrackedCaches& from);
};

class CachesFamily final : public RowsFamily {
 public:
  // `caches` and `uncached` outlive the family.
  CachesFamily(const CacheFamily& family, const PageCaches& caches, const ConfirmedReads& uncached);
  void read(MetricPage::For use) override;

 private:
  prometheus::MetricFamily describe() const override;
  void read_values(bool same);
  void append_row(std::size_t row, std::string& out) const;
  void append_sample(std::size_t row, Samples& out) const;

  const CacheFamily& family_;
  const PageCaches& caches_;
  const ConfirmedReads* const uncached_;  // null: no series is hidden
  std::vector<std::optional<double>> values_;
  std::vector<std::uint8_t> changed_;
  std::vector<bool> hidden_;
};

class RegisteredFamily final : public RowsFamily {
 public:
  // `about`: MetricView::about() of the metric. `uncached` outlives the family.
  RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const ConfirmedReads& uncached);
  RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const SummaryOf& summary);
  const Metric& metric() const noexcept { return metric_; }
  // `observer` is called with each reading.
  void observe(MetricPage::Observer observer) { observer_ = std::move(observer); }

  void read(MetricPage::For use) override;

 private:
  // `summary`: not null for the summary of a histogram, which has no hidden series.
  RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const SummaryOf* summary, const ConfirmedReads* uncached);
  prometheus::MetricFamily describe() const override;
  void note_hidden(const MetricView::Reading& reading);
  bool is_uncached(std::string_view labels) const;
  bool is_shown(const MetricView::Reading& reading, std::size_t row) const;
  void append_row(const MetricView::Reading& reading, std::size_t row, std::string& out);
  void append_sample(const MetricView::Reading& reading, std::size_t row, Samples& out);

  const Metric& metric_;
  MetricView view_;
  const SummaryOf* const summary_;
  const ConfirmedReads* const uncached_;  // null: no series is hidden
  std::vector<bool> hidden_;              // by series
  MetricPage::Observer observer_;
  std::vector<std::uint64_t> counts_;  // the buckets of the series that is being read
};

}  // namespace backplane

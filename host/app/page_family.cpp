#include "app/page_family.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/uncached_metrics.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricLines lines_of(std::string_view name, std::string_view help, MetricLines::Type type, const std::vector<std::string>& labels,
                     std::span<const double> bounds = {}) {
  return MetricLines(std::string(name), marked_help(name, help), type, labels, bounds);
}

std::string_view name_of(const Metric::Snapshot& about, const SummaryOf* summary) {
  return summary != nullptr ? summary->name : std::string_view(about.name);
}
std::string_view help_of(const Metric::Snapshot& about, const SummaryOf* summary) {
  return summary != nullptr ? summary->help : std::string_view(about.help);
}
MetricLines::Type type_of(const Metric::Snapshot& about, const SummaryOf* summary) {
  if (summary != nullptr) return MetricLines::Type::kSummary;
  if (about.kind == Metric::Kind::kHistogram) return MetricLines::Type::kHistogram;
  return about.kind == Metric::Kind::kCounter ? MetricLines::Type::kCounter : MetricLines::Type::kGauge;
}

MetricFamily described(std::string_view name, std::string_view help, MetricLines::Type type) {
  constexpr std::array kTypes = {MetricType::Counter, MetricType::Gauge, MetricType::Histogram, MetricType::Summary};
  return {std::string(name), marked_help(name, help), kTypes[static_cast<std::size_t>(type)], {}};
}

// `values`: each followed by a zero byte; empty ones at the end may be left out.
ClientMetric sample_with(const std::vector<std::string>& labels, std::string_view values) {
  ClientMetric out;
  out.label.reserve(labels.size());
  for (const std::string& label : labels) {
    const std::size_t end = values.find('\0');
    out.label.push_back({label, std::string(values.substr(0, end))});
    values.remove_prefix(end == std::string_view::npos ? values.size() : end + 1);
  }
  return out;
}

void set_buckets(ClientMetric::Histogram& histogram, std::span<const double> bounds, std::span<const std::uint64_t> counts) {
  histogram.bucket.reserve(bounds.size());
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    ClientMetric::Bucket& bucket = histogram.bucket.emplace_back();
    bucket.cumulative_count = below += counts[i];
    bucket.upper_bound = bounds[i];
  }
}

}  // namespace

// ---- OtherFamily

void OtherFamily::read(MetricPage::For) {
  given_ = false;
  shown = constant_;
}

void OtherFamily::set(std::string_view text) {
  given_ = shown = true;
  previously_changed_ = changed_;
  changed_ = text != text_;
  if (!changed_) return;
  text_ = text;
  dirty_ = true;
}

void OtherFamily::keep() noexcept {
  given_ = shown = true;
  changed_ = previously_changed_ = false;
}

void OtherFamily::add_text(TextPieces& out) { out.add(text_); }

bool OtherFamily::pack(PieceCompressor& compressor, std::size_t& most) {
  if (!dirty_) return true;
  if (most == 0) return false;
  packed_ = previously_changed_ ? compressor.compress_briefly(text_) : compressor.compress(text_);
  dirty_ = false;
  most -= std::min(most, text_.size());
  return true;
}

void OtherFamily::add_to(GzipAssembly& assembly) const {
  assembly.add(packed_.bytes);
  assembly.add(packed_.sum);
}

// ---- RowsFamily

// A scrape without compression also calls note(), so that a later scrape with compression packs the rows that have changed.
void RowsFamily::render(MetricPage::For use, std::span<const std::uint8_t> changed, std::span<const std::uint32_t> former, const Row& row) {
  const bool packs = use == MetricPage::For::kGzip;
  if (packs || rows_.in_use()) rows_.note(changed, former);
  if (packs) return rows_.render(lines_.head(), row.append_text);
  if (use == MetricPage::For::kSamples) {
    samples_.reserve(changed.size());
    for (std::size_t i = 0; i < changed.size(); ++i) row.append_sample(i, samples_);
    return;
  }
  TextPieces pieces;
  pieces.last() = lines_.head();
  for (std::size_t i = 0; i < changed.size(); ++i) {
    row.append_text(i, pieces.last());
    pieces.cut();
  }
  text_ = pieces.take();
}

MetricFamily RowsFamily::take_samples() {
  MetricFamily out = describe();
  out.metric = std::exchange(samples_, {});
  return out;
}

void RowsFamily::add_text(TextPieces& out) {
  for (std::string& text : text_) out.add(std::move(text));
  text_.clear();
}

// ---- CachesFamily

void PageCaches::read(const TrackedCaches& from) {
  former.clear();
  field_changed = {};
  std::size_t count = 0;
  bool same = true;
  from.visit([&](const std::string& prefix, const GroupResource& resource, const ResourceCache& cache) {
    same = same && count < rows.size() && rows[count].prefix == prefix && rows[count].totals.resource == resource;
    if (same) read_row(rows[count].totals, cache);
    ++count;
  });
  if (!same || count != rows.size()) list(from);
}

void PageCaches::read_row(TrackedCaches::Totals& totals, const ResourceCache& cache) {
  const std::size_t objects = totals.objects, bytes = totals.bytes;
  const Revision revision = totals.revision;
  totals.read(cache);
  const std::array<bool, 3> differs = {totals.objects != objects, totals.bytes != bytes, totals.revision != revision};
  for (std::size_t i = 0; i < differs.size(); ++i) field_changed[i] = field_changed[i] || differs[i];
}

void PageCaches::list(const TrackedCaches& from) {
  field_changed = {true, true, true};
  const std::vector<Row> before = std::move(rows);
  rows.clear();
  std::size_t at = 0;
  for (auto& [prefix, totals] : from.totals()) {
    while (at < before.size() && before[at].prefix < prefix) ++at;
    const bool known = at < before.size() && before[at].prefix == prefix && before[at].totals.resource == totals.resource;
    former.push_back(known ? static_cast<std::uint32_t>(at) : PackedRows::kNew);
    rows.push_back({prefix, std::move(totals)});
  }
}

CachesFamily::CachesFamily(const CacheFamily& family, const PageCaches& caches, const ConfirmedReads& uncached)
    : RowsFamily(LevelCounts::level_of(family.name, family.help),
                 lines_of(family.name, family.help, MetricLines::Type::kGauge, label_names(family.labels))),
      family_(family),
      caches_(caches),
      uncached_(is_of_caches(family.name) && family.labels == CacheFamily::Labels::kGroupAndResource ? &uncached : nullptr) {}

void CachesFamily::read(MetricPage::For use) {
  const auto& rows = caches_.rows;
  const bool same = caches_.former.empty() && rows.size() == values_.size();
  if (!same) {
    hidden_.clear();
    for (const auto& row : rows) hidden_.push_back(uncached_ != nullptr && uncached_->includes(row.totals.resource));
  }
  changed_.assign(rows.size(), 0);
  if (!same || caches_.field_changed[static_cast<std::size_t>(family_.field)]) read_values(same);
  render(use, changed_, caches_.former,
         {[this](std::size_t row, std::string& out) { append_row(row, out); },
          [this](std::size_t row, Samples& out) { append_sample(row, out); }});
  shown = true;
}

void CachesFamily::read_values(bool same) {
  const auto& rows = caches_.rows;
  std::vector<std::optional<double>> values;
  values.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.push_back(hidden_[i] ? std::nullopt : family_.value(rows[i].totals));
    const std::size_t before = same ? i : caches_.former[i];
    if (before < values_.size() && values[i] != values_[before]) changed_[i] = 1;
  }
  values_ = std::move(values);
}

void CachesFamily::append_row(std::size_t row, std::string& out) const {
  if (!values_[row]) return;
  const auto& [prefix, totals] = caches_.rows[row];
  std::string labels;
  for (const std::string& value : label_values(family_.labels, prefix, totals.resource)) labels.append(value).push_back('\0');
  lines_.append_value(out, labels, *values_[row]);
}

MetricFamily CachesFamily::describe() const { return described(family_.name, family_.help, MetricLines::Type::kGauge); }

void CachesFamily::append_sample(std::size_t row, Samples& out) const {
  if (!values_[row]) return;
  const auto& [prefix, totals] = caches_.rows[row];
  const auto names = label_names(family_.labels), values = label_values(family_.labels, prefix, totals.resource);
  ClientMetric& sample = out.emplace_back();
  for (std::size_t i = 0; i < names.size(); ++i) sample.label.push_back({names[i], values[i]});
  sample.gauge.value = *values_[row];
}

// ---- RegisteredFamily

RegisteredFamily::RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const SummaryOf* summary,
                                   const ConfirmedReads* uncached)
    : RowsFamily(LevelCounts::level_of(name_of(about, summary), help_of(about, summary)),
                 lines_of(name_of(about, summary), help_of(about, summary), type_of(about, summary), about.labels, about.bounds)),
      metric_(metric),
      view_(metric),
      summary_(summary),
      uncached_(uncached != nullptr && !uncached->none() && is_of_caches(about.name) ? uncached : nullptr),
      counts_(about.kind == Metric::Kind::kHistogram ? about.bounds.size() + 1 : 0) {}
RegisteredFamily::RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const ConfirmedReads& uncached)
    : RegisteredFamily(metric, about, nullptr, &uncached) {}
RegisteredFamily::RegisteredFamily(const Metric& metric, const Metric::Snapshot& about, const SummaryOf& summary)
    : RegisteredFamily(metric, about, &summary, nullptr) {}

MetricFamily RegisteredFamily::describe() const {
  const Metric::Snapshot& about = view_.about();
  return described(name_of(about, summary_), help_of(about, summary_), type_of(about, summary_));
}

void RegisteredFamily::note_hidden(const MetricView::Reading& reading) {
  if (uncached_ == nullptr || (reading.former().empty() && hidden_.size() == reading.size())) return;
  hidden_.clear();
  for (std::size_t row = 0; row < reading.size(); ++row) hidden_.push_back(is_uncached(reading.labels(row)));
}

bool RegisteredFamily::is_uncached(std::string_view labels) const {
  GroupResource resource;
  for (const std::string& name : view_.about().labels) {
    const std::size_t end = labels.find('\0');
    if (name == "group") resource.group = labels.substr(0, end);
    if (name == "resource") resource.resource = labels.substr(0, end);
    labels.remove_prefix(end == std::string_view::npos ? labels.size() : end + 1);
  }
  return !resource.resource.empty() && uncached_->includes(resource);
}

void RegisteredFamily::read(MetricPage::For use) {
  const MetricView::Reading reading = view_.read();
  note_hidden(reading);
  render(use, reading.changed(), reading.former(),
         {[&](std::size_t row, std::string& out) { append_row(reading, row, out); },
          [&](std::size_t row, Samples& out) { append_sample(reading, row, out); }});
  shown = false;
  for (std::size_t i = 0; i < reading.size() && !shown; ++i) shown = reading.exposed(i);
  if (observer_) observer_(view_.about(), reading);
}

bool RegisteredFamily::is_shown(const MetricView::Reading& reading, std::size_t row) const {
  return reading.exposed(row) && (uncached_ == nullptr || !hidden_[row]);
}

void RegisteredFamily::append_row(const MetricView::Reading& reading, std::size_t row, std::string& out) {
  if (!is_shown(reading, row)) return;
  if (counts_.empty()) return lines_.append_value(out, reading.labels(row), reading.value(row));
  reading.buckets(row, counts_);
  if (summary_ == nullptr) return lines_.append_histogram(out, reading.labels(row), reading.value(row), counts_);
  lines_.append_summary(out, reading.labels(row), reading.value(row), std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}));
}

void RegisteredFamily::append_sample(const MetricView::Reading& reading, std::size_t row, Samples& out) {
  if (!is_shown(reading, row)) return;
  const Metric::Snapshot& about = view_.about();
  ClientMetric& sample = out.emplace_back(sample_with(about.labels, reading.labels(row)));
  const double value = reading.value(row);
  if (counts_.empty()) {
    (about.kind == Metric::Kind::kCounter ? sample.counter.value : sample.gauge.value) = value;
    return;
  }
  reading.buckets(row, counts_);
  const std::uint64_t count = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  if (summary_ != nullptr) {
    sample.summary.sample_count = count;
    sample.summary.sample_sum = value;
    return;
  }
  sample.histogram.sample_count = count;
  sample.histogram.sample_sum = value;
  set_buckets(sample.histogram, about.bounds, counts_);
}

}  // namespace backplane

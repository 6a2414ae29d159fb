#include "app/metric_page.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "app/page_family.hpp"
#include "app/sample_text.hpp"

namespace backplane {
namespace {

constexpr SummaryOf kSummaries[] = {
    {"apiserver_admission_step_admission_duration_seconds", "apiserver_admission_step_admission_duration_seconds_summary",
     "Admission sub-step latency summary in seconds, broken out for each operation and API resource and step type (validate or "
     "admit)."}};

// The summary that belongs to a histogram; null if there is none.
const SummaryOf* summary_of(std::string_view histogram) {
  const auto* const found =
      std::find_if(std::begin(kSummaries), std::end(kSummaries), [histogram](const SummaryOf& row) { return row.histogram == histogram; });
  return found == std::end(kSummaries) ? nullptr : found;
}

}  // namespace

MetricPage::MetricPage(std::vector<prometheus::MetricFamily> constants, bool count_objects, ConfirmedReads uncached)
    : count_objects_(count_objects), uncached_(std::move(uncached)) {
  for (auto& family : constants) set(std::move(family), true);
  clear();
}
MetricPage::~MetricPage() = default;

MetricPage::Use MetricPage::use() noexcept { return Use(in_use_.exchange(true, std::memory_order_acquire) ? nullptr : this); }

void MetricPage::Use::done() noexcept {
  if (MetricPage* const page = std::exchange(page_, nullptr)) page->in_use_.store(false, std::memory_order_release);
}
MetricPage::Use::~Use() {
  if (page_ != nullptr) page_->clear();
  done();
}

void MetricPage::clear() {
  std::erase_if(families_, [](const auto& each) { return !each.second->constant(); });
  shown_.clear();
  registered_.clear();
  caches_ = std::make_unique<PageCaches>();
  for (const CacheFamily& family : cache_families()) {
    if (family.of_objects && !count_objects_) continue;
    families_[{std::string(family.name), Kind::kCache}] = std::make_unique<CachesFamily>(family, *caches_, uncached_);
  }
}

void MetricPage::read(For use, const TrackedCaches& caches) {
  caches_->read(caches);
  update_registered();
  for (const auto& [_, family] : families_) family->read(use);
}

std::vector<prometheus::MetricFamily> MetricPage::samples(const TrackedCaches& caches) {
  caches_->read(caches);
  update_registered();
  std::vector<prometheus::MetricFamily> out;
  for (const auto& [key, family] : families_) {
    if (key.second == Kind::kOther) continue;
    family->read(For::kSamples);
    if (family->shown) out.push_back(static_cast<RowsFamily&>(*family).take_samples());
  }
  return out;
}

void MetricPage::set(prometheus::MetricFamily family, bool constant) {
  family.help = marked_help(family.name, family.help);
  auto& place = families_[{family.name, Kind::kOther}];
  if (place == nullptr) place = std::make_unique<OtherFamily>(LevelCounts::level_of(family.name, family.help), constant);
  scratch_.clear();
  append_family(scratch_, family);
  static_cast<OtherFamily&>(*place).set(scratch_);
}

bool MetricPage::keep(const std::string& name) {
  const auto found = families_.find({name, Kind::kOther});
  if (found == families_.end()) return false;
  static_cast<OtherFamily&>(*found->second).keep();
  return true;
}

// The metrics change when a plugin starts or ends.
void MetricPage::update_registered() {
  auto metrics = MetricView::metrics();
  if (metrics == registered_) return;
  registered_ = std::move(metrics);
  std::set<const Metric*> known(registered_.begin(), registered_.end());
  std::erase_if(families_, [&known](const auto& each) {
    return each.first.second == Kind::kRegistered && !known.contains(&static_cast<const RegisteredFamily&>(*each.second).metric());
  });
  for (const Metric* metric : registered_) add_registered(*metric);
}

void MetricPage::add_registered(const Metric& metric) {
  const MetricView view(metric);
  const Metric::Snapshot& about = view.about();
  auto& place = families_[{about.name, Kind::kRegistered}];
  if (place != nullptr) return;
  auto family = std::make_unique<RegisteredFamily>(metric, about, uncached_);
  if (const auto observer = observers_.find(about.name); observer != observers_.end()) family->observe(observer->second);
  place = std::move(family);
  const SummaryOf* summary = summary_of(about.name);
  if (summary == nullptr) return;
  families_[{std::string(summary->name), Kind::kRegistered}] = std::make_unique<RegisteredFamily>(metric, about, *summary);
}

void MetricPage::count(const MetricRules& rules) {
  LevelCounts counts;
  std::size_t disabled = 0;
  for (const auto& [key, family] : families_) {
    if (!family->shown) continue;
    if (rules.takes_out(key.first)) {
      family->shown = false;
      ++disabled;
    } else {
      counts.add(family->level);
    }
  }
  for (auto& family : counts.families(disabled, 0)) set(std::move(family), false);
  std::erase_if(families_, [](const auto& each) {
    return each.first.second == Kind::kOther && static_cast<const OtherFamily&>(*each.second).stale();
  });
  shown_.clear();
  packed_ = 0;
  for (const auto& [_, family] : families_) {
    if (family->shown) shown_.push_back(family.get());
  }
}

std::vector<SharedBytes> MetricPage::text() {
  TextPieces pieces;
  for (PageFamily* family : shown_) family->add_text(pieces);
  std::vector<SharedBytes> out;
  for (std::string& piece : pieces.take()) {
    if (!piece.empty()) out.emplace_back(std::move(piece));
  }
  return out;
}

bool MetricPage::pack(std::size_t most) {
  if (compressor_ == nullptr) compressor_ = std::make_unique<PieceCompressor>();
  if (packed_ == 0) compressor_->begin_stream();
  for (; packed_ < shown_.size(); ++packed_) {
    if (!shown_[packed_]->pack(*compressor_, most)) return false;
  }
  return true;
}

std::uint64_t MetricPage::text_size() const {
  std::uint64_t size = 0;
  for (const PageFamily* family : shown_) size += family->sum().size();
  return size;
}

std::vector<SharedBytes> MetricPage::gzip() const {
  GzipAssembly assembly;
  for (const PageFamily* family : shown_) family->add_to(assembly);
  return assembly.finish();
}

}  // namespace backplane

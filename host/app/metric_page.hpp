// The text of /metrics, held between scrapes: text and gzip are made from the registered metrics without samples in between, and what has
// not changed since the last scrape stays compressed.
//
// A scrape: use() → read() → set() and keep() → count() → pack() until it returns true, and gzip(); or, after read(For::kText), text().
// Memory: the compressed text, the text of the families that are set, and for each series some 60 bytes.
//
// Thread-safety: use() from any thread; the rest by the thread whose scrape uses the page.
// Lifetime:      a Use ends before the page.
// Errors:        none but std::bad_alloc; a use that did not call done() leaves the page empty, and the next one fills it.
#pragma once

#include <prometheus/metric_family.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/gzip_pieces.hpp"
#include "app/metric_rules.hpp"
#include "app/other_stores.hpp"
#include "app/tracked_caches.hpp"
#include "backplane/core/bytes.hpp"
#include "backplane/core/metric_view.hpp"
#include "backplane/core/metrics.hpp"

namespace backplane {

struct PageCaches;
class PageFamily;

class MetricPage {
 public:
  // `constants`: families that never change. `count_objects`: with the families about the objects of each resource. `uncached`: resources
  // whose series of caches are hidden, see is_of_caches().
  MetricPage(std::vector<prometheus::MetricFamily> constants, bool count_objects, ConfirmedReads uncached);
  ~MetricPage();
  MetricPage(const MetricPage&) = delete;
  MetricPage& operator=(const MetricPage&) = delete;

  // The right to use the page.
  class Use {
   public:
    explicit Use(MetricPage* page) noexcept : page_(page) {}
    Use(Use&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use();
    explicit operator bool() const noexcept { return page_ != nullptr; }
    void done() noexcept;

   private:
    MetricPage* page_;
  };
  // False: another scrape uses the page.
  Use use() noexcept;

  // Called by each read() with the series of the metric `name`. Before the first scrape.
  using Observer = std::function<void(const Metric::Snapshot& about, const MetricView::Reading& reading)>;
  void observe(std::string name, Observer observer) { observers_.insert_or_assign(std::move(name), std::move(observer)); }

  enum class For : unsigned char { kText, kGzip, kSamples };
  // Reads the registered metrics, and the families of cache_families() from `caches`.
  void read(For use, const TrackedCaches& caches);
  // A further family of this scrape.
  void set(prometheus::MetricFamily family) { set(std::move(family), false); }
  // The family that an earlier scrape has set, unchanged. False: there is none.
  bool keep(const std::string& name);
  // Removes the families that `rules` disable, and adds the numbers of families by level. Requires rules.only_takes_out().
  void count(const MetricRules& rules);

  // Samples of the registered metrics and of the caches, by name, for other encodings and for rules that change samples: what read() and
  // text() show of them. In the place of read() and the calls after it; the caller adds the other families.
  std::vector<prometheus::MetricFamily> samples(const TrackedCaches& caches);

  // The text, families by name.
  std::vector<SharedBytes> text();

  // Compresses about `most` bytes of what has changed. Returns false if some are left.
  bool pack(std::size_t most);
  // Of the text, after pack().
  std::uint64_t text_size() const;
  std::vector<SharedBytes> gzip() const;

 private:
  enum class Kind : unsigned char { kOther, kCache, kRegistered };
  using Key = std::pair<std::string, Kind>;

  void clear();
  void set(prometheus::MetricFamily family, bool constant);
  void add_registered();
  void add_registered(const Metric& metric);

  const bool count_objects_;
  const ConfirmedReads uncached_;
  std::atomic<bool> in_use_{false};
  std::unique_ptr<PageCaches> caches_;
  std::size_t registered_ = 0;  // metrics that have a family
  std::map<Key, std::unique_ptr<PageFamily>> families_;
  std::vector<PageFamily*> shown_;  // in this scrape, by name
  std::size_t packed_ = 0;          // of them
  std::unique_ptr<PieceCompressor> compressor_;
  std::map<std::string, Observer, std::less<>> observers_;  // by metric
  std::string scratch_;
};

// The sum and the count of a histogram, which upstream exposes once more as a summary without quantiles.
struct SummaryOf {
  std::string_view histogram, name, help;
};

}  // namespace backplane

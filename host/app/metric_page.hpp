// The text of /metrics, kept between scrapes. It is made from the registered metrics without prometheus::ClientMetric objects. Text that
// has not changed since the last scrape stays compressed.
//
// A compressed scrape: use() → read(For::kGzip) → set() and keep() → count() → pack() until it returns true → gzip().
// A scrape as text:    use() → read(For::kText) → set() and keep() → count() → text().
// Memory: the compressed text, the text of the families that are set, and for each series some 60 bytes.
//
// Thread-safety: use() from any thread; the rest by the thread whose scrape uses the page.
// Lifetime:      a Use ends before the page.
// Errors:        none but std::bad_alloc. A Use that is destroyed before done() was called leaves the page empty; the next scrape fills it.
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
  // `constants`: families that never change. `count_objects`: whether the page shows the families about the stored objects of each
  // resource. `uncached`: resources whose series of caches are hidden, see is_of_caches().
  MetricPage(std::vector<prometheus::MetricFamily> constants, bool count_objects, ConfirmedReads uncached);
  ~MetricPage();
  MetricPage(const MetricPage&) = delete;
  MetricPage& operator=(const MetricPage&) = delete;

  // The exclusive right to use the page.
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
  // The result is false (operator bool) if another scrape uses the page.
  Use use() noexcept;

  // `observer` is called by each read(), with the series of the metric `name`. Call it before the first scrape.
  using Observer = std::function<void(const Metric::Snapshot& about, const MetricView::Reading& reading)>;
  void observe(std::string name, Observer observer) { observers_.insert_or_assign(std::move(name), std::move(observer)); }

  enum class For : unsigned char { kText, kGzip, kSamples };
  // Reads the registered metrics, and the families of cache_families() from `caches`.
  void read(For use, const TrackedCaches& caches);
  // Adds a further family to this scrape.
  void set(prometheus::MetricFamily family) { set(std::move(family), false); }
  // Adds the family that an earlier scrape has set, unchanged. Returns false if there is none.
  bool keep(const std::string& name);
  // Removes the families that `rules` disable, and adds the numbers of families by level. Requires rules.only_removes().
  void count(const MetricRules& rules);

  // The registered metrics and the families of the caches as samples, sorted by name: for other encodings, and for rules that change
  // samples. A scrape calls samples() after use(), instead of read() and all later steps. The caller adds the other families.
  std::vector<prometheus::MetricFamily> samples(const TrackedCaches& caches);

  // The text, with the families sorted by name.
  std::vector<SharedBytes> text();

  // Compresses about `most` bytes of what has changed. Returns false if some are left.
  bool pack(std::size_t most);
  // The size of the uncompressed text. Valid after pack() has returned true.
  std::uint64_t text_size() const;
  std::vector<SharedBytes> gzip() const;

 private:
  enum class Kind : unsigned char { kOther, kCache, kRegistered };
  using Key = std::pair<std::string, Kind>;

  void clear();
  void set(prometheus::MetricFamily family, bool constant);
  void update_registered();
  void add_registered(const Metric& metric);

  const bool count_objects_;
  const ConfirmedReads uncached_;
  std::atomic<bool> in_use_{false};
  std::unique_ptr<PageCaches> caches_;
  std::vector<const Metric*> registered_;  // the metrics that have a family
  std::map<Key, std::unique_ptr<PageFamily>> families_;
  std::vector<PageFamily*> shown_;  // the families of this scrape, sorted by name
  std::size_t packed_ = 0;          // the number of families in shown_ that pack() has completed
  std::unique_ptr<PieceCompressor> compressor_;
  std::map<std::string, Observer, std::less<>> observers_;  // by metric
  std::string scratch_;
};

// A histogram whose sum and count upstream also exposes under another name, as a summary without quantiles.
struct SummaryOf {
  std::string_view histogram, name, help;
};

}  // namespace backplane

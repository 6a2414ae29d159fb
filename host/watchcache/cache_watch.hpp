// The watch streams of a cache. A stream begins with the initial objects of a snapshot, or with old events that are read from the store;
// then it returns the events of the cache's EventLog.
//
// Thread-safety: next() by one coroutine at a time; cancel() from any thread.
// Lifetime:      a stream keeps its cache alive; await a pending next() before the stream is destroyed.
// Errors:        kExpired `too old resource version: N (M)` if the requested events are no longer available.
#pragma once

#include <atomic>
#include <memory>

#include "watchcache/index_scan.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

class CacheWatch final : public WatchStream {
 public:
  struct Start {
    // If set, the stream begins with an ADDED event for each object of the snapshot.
    std::shared_ptr<const Snapshot> snapshot;
    bool end_bookmark = false;  // a bookmark follows the events of the snapshot
    // The stream returns the events after this revision. If `snapshot` is set: the revision at which the snapshot is read.
    Revision after = 0;
    bool bookmarks = false;
    std::optional<std::int64_t> timeout_seconds;
  };
  // Errors: kExpired if neither the log nor the store has the events after `start.after`.
  static Result<std::unique_ptr<WatchStream>> make(std::shared_ptr<PrefixCache> cache, Selection selection, const Start& start);

  CacheWatch(std::shared_ptr<PrefixCache> cache, Selection selection);
  ~CacheWatch() override;
  Task<Result<std::vector<WatchEvent>>> next() override;
  void cancel() override;

 private:
  using Events = std::vector<WatchEvent>;
  enum class Phase : unsigned char { kSnapshot, kHistory, kLog, kEnded };

  Status begin(const Start& start);
  Status begin_past();
  void take_snapshot(Events& events);
  Task<Status> take_history(Events& events);
  Status take_log(Events& events, bool& drained);
  void take_bookmark(Events& events);
  void select(const LogRecord& record, Events& events);
  LogRecord record_of(const StorageEvent& event) const;
  Status too_old() const;

  const std::shared_ptr<PrefixCache> cache_;
  const Selection selection_;
  Phase phase_ = Phase::kLog;
  std::atomic<bool> cancelled_{false};
  std::unique_ptr<IndexScan> initial_;     // kSnapshot
  std::unique_ptr<StorageWatch> history_;  // for kHistory; destroyed with the stream, because cancel() may use it at any time
  bool end_bookmark_ = false;
  Revision position_ = 0;  // events up to this revision have been returned
  Revision skip_to_ = 0;   // events up to this revision are skipped
  std::uint64_t cursor_ = 0;
  EventLog::Waiter waiter_;
};

// A stream whose first next() returns `status`, and whose later ones return the end: upstream reports in this way that it cannot serve a
// watch.
std::unique_ptr<WatchStream> make_failed_watch(Status status);

}  // namespace backplane

// The watch streams of a cache: initial state from a snapshot, earlier events from the store, then the log.
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
    // Begins with an ADDED event for each object in the snapshot, and a bookmark after them if requested.
    std::shared_ptr<const Snapshot> snapshot;
    bool end_bookmark = false;
    // The watch has the events after this revision; with a snapshot: the revision at which it is read.
    Revision after = 0;
    bool bookmarks = false;
    std::optional<std::int64_t> timeout_seconds;
  };
  // Errors: kExpired when neither the log nor the store has the events after `start.after`.
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
  std::unique_ptr<StorageWatch> history_;  // kHistory; not destroyed before the stream, because cancel() may use it at any time
  bool end_bookmark_ = false;
  Revision position_ = 0;  // events up to this revision have been returned
  Revision skip_to_ = 0;   // events up to this revision are skipped
  std::uint64_t cursor_ = 0;
  EventLog::Waiter waiter_;
};

// A stream whose first next() gives this error, as upstream ends a watch that it cannot serve.
std::unique_ptr<WatchStream> make_failed_watch(Status status);

}  // namespace backplane

// A watch of a storage backend of the stable tier: the queue between the plugin, which pushes batches, and the host, which reads them.
//
// The queue is bounded. A batch that is pushed while the queue is full is dropped; the plugin pushes it again in more(). The calls of the
// plugin for one watch are made one after another, on the threads of its store.
// Thread-safety: any thread; add(), push() and end() by one thread at a time.
// Lifetime:      the store owns it until the plugin's cancel() has returned; the plugin may use its pointer until then.
// Errors:        kExpired after cancel(), or if the plugin ends the watch without an error; the plugin's; kInternalError for batches that
//                are not in the order of commits.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backplane/points/storage.hpp"
#include "backplane/stable/storage.h"

namespace backplane::stable {
class OpenedStore;
}  // namespace backplane::stable

struct bp_event_stream : std::enable_shared_from_this<bp_event_stream> {
 public:
  bp_event_stream(std::shared_ptr<backplane::stable::OpenedStore> store, std::string prefix, backplane::Revision after);

  // ---- the plugin's side (bp_storage_table)
  void add(const bp_store_event& event);
  int32_t push(backplane::Revision revision);
  void end(backplane::Status why);

  // ---- the host's side
  // Schedules the call of the plugin's watch().
  void open();
  // Ends the stream with `why` if the plugin's watch() has not returned.
  void end_unopened(backplane::Status why);
  // The next batch, or the error that ended the watch. If there is neither, it returns nullopt, and sets `woken` as soon as there is one.
  std::optional<backplane::Result<backplane::EventBatch>> take(const backplane::Promise<bool>& woken);
  void cancel();

 private:
  enum class Step : unsigned char { kNone, kOpen, kMore, kCancel, kForget };

  // The caller holds mutex_:
  backplane::Status check(const backplane::EventBatch& batch) const;
  int32_t queue_batch(backplane::EventBatch batch, std::size_t bytes);
  backplane::EventBatch unqueue();
  std::optional<backplane::Promise<bool>> take_waiter();
  void schedule();
  Step next_step();

  void run_steps();
  void call_watch();

  const std::shared_ptr<backplane::stable::OpenedStore> store_;
  const std::string prefix_;
  const backplane::Revision after_;

  std::mutex mutex_;  // guards the members below
  struct Queued {
    backplane::EventBatch batch;
    std::size_t bytes = 0;
  };
  std::deque<Queued> queue_;
  std::size_t queued_events_ = 0, queued_bytes_ = 0;
  backplane::EventBatch adding_;  // the events of add() since the last push()
  std::size_t adding_bytes_ = 0;
  bool adding_nothing_ = false;  // an event had no item
  backplane::Revision last_;     // the revision of the last batch
  bool full_ = false;            // a batch was dropped
  std::optional<backplane::Status> ended_;
  bool cancelled_ = false;
  std::optional<backplane::Promise<bool>> waiter_;

  bool stepping_ = false;  // a call of the plugin is queued or runs
  bool open_wanted_ = false, more_wanted_ = false, forgotten_ = false;
  void* watch_ = nullptr;  // the result of watch()
};

namespace backplane::stable {

// The host's handle; its destruction cancels the watch.
class TableWatch final : public StorageWatch {
 public:
  explicit TableWatch(std::shared_ptr<bp_event_stream> stream) : stream_(std::move(stream)) {}
  ~TableWatch() override { stream_->cancel(); }
  Task<Result<EventBatch>> next() override;
  void cancel() override { stream_->cancel(); }

 private:
  const std::shared_ptr<bp_event_stream> stream_;
};

}  // namespace backplane::stable

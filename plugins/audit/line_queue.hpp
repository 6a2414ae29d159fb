// A queue of events for the writer of the log.
//
// Each thread adds to one of several queues, so that threads rarely contend for a lock. An event without objects is encoded when it is
// added. Then the thread that allocated the event also frees it, and the writer reads text instead of memory that is in the cache of
// another processor.
//
// Thread-safety: add() from any thread; take() by one consumer at a time.
// Lifetime:      the queue destroys events that have not been taken.
// Errors:        std::bad_alloc, and exceptions of the function that is passed to add(); then nothing is added.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "line_encoder.hpp"

namespace backplane::audit {

struct QueuedLine {
  std::size_t bytes = 0;                     // the length of the line in QueuedLines::text
  std::shared_ptr<const AuditEvent> event;   // not null: the consumer encodes the event, and `bytes` is 0
  std::optional<Promise<bool>> stored = {};  // set to true when the event has been written, or to false if it is lost
};

// The contents of one queue.
struct QueuedLines {
  std::string text;
  std::vector<QueuedLine> lines;  // oldest first; all lines of one thread are in the same queue
};

class LineQueue {
 public:
  explicit LineQueue(const LogSettings& settings);
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Adds `line`, and the text that `encode(encoder, text)` appends. If encode() returns false, it must not append anything, and nothing is
  // added. Returns the number of lines, including this one, that are queued, or taken and not yet released; 0: nothing was added.
  template <class Encode>
  std::size_t add(QueuedLine line, Encode encode) {
    Part& part = part_of_this_thread();
    const std::lock_guard lock(part.mutex);
    std::string& text = part.queued.text;
    const std::size_t begin = text.size();
    try {
      if (!encode(part.encoder, text)) return 0;
      line.bytes = text.size() - begin;
      part.queued.lines.push_back(std::move(line));
    } catch (...) {
      text.resize(begin);
      throw;
    }
    return count_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  std::size_t add(QueuedLine line) {
    return add(std::move(line), [](LineEncoder&, std::string&) { return true; });
  }

  static constexpr std::size_t kParts = 8;
  // Swaps the contents of queue `part` with `empty`, whose memory is reused. False: the queue is empty.
  bool take(std::size_t part, QueuedLines& empty);
  // Releases `count` taken lines, which no longer count as queued.
  void release(std::size_t count) noexcept { count_.fetch_sub(count, std::memory_order_relaxed); }
  std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Part {
    explicit Part(const LogSettings& settings) : encoder(settings) {}
    std::mutex mutex;
    QueuedLines queued;
    LineEncoder encoder;
  };
  Part& part_of_this_thread() noexcept;

  std::array<std::unique_ptr<Part>, kParts> parts_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace backplane::audit

// Lets writers of the same key run one after another. Concurrent writers of one object would conflict repeatedly and repeat all their work
// each time. So a writer that has lost a conflict, and a writer whose key is busy, waits for its turn.
//
// Thread-safety: any thread; a waiting coroutine resumes on its executor.
// Lifetime:      outlives its turns and the waiting coroutines.
// Errors:        none. A writer whose wait has timed out continues without a turn.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "backplane/core/task.hpp"

namespace backplane::registry {

class KeyTurns {
 public:
  KeyTurns() = default;
  KeyTurns(const KeyTurns&) = delete;
  KeyTurns& operator=(const KeyTurns&) = delete;

  // The turn ends when the object is destroyed.
  class Turn {
   public:
    Turn() = default;
    Turn(KeyTurns& turns, std::string key) : turns_(&turns), key_(std::move(key)) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), key_(std::move(other.key_)) {}
    Turn& operator=(Turn&& other) noexcept {
      std::swap(turns_, other.turns_);
      std::swap(key_, other.key_);
      return *this;
    }
    ~Turn() {
      if (turns_ != nullptr) turns_->leave(key_);
    }
    bool had() const noexcept { return turns_ != nullptr; }

   private:
    KeyTurns* turns_ = nullptr;
    std::string key_;
  };

  // True if a writer has the turn at `key`.
  bool busy(const std::string& key) const;
  // Waits for the turn at `key`. Callers get it in the order of their calls. If the wait exceeds `timeout`, had() of the result is false.
  Task<Turn> take(std::string key, std::chrono::nanoseconds timeout);

 private:
  bool enter(const std::string& key, const Promise<bool>& mine);
  // Passes the turn to the next writer that still waits, if any.
  void leave(const std::string& key);

  std::atomic<std::size_t> keys_{0};  // the number of elements in waiting_; busy() takes no lock if it is 0, the usual case
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::deque<Promise<bool>>> waiting_;  // key whose turn is taken → the waiting writers
};

}  // namespace backplane::registry

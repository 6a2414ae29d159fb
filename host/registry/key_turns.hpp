// Turns at single keys: those who write one object at once lose to each other over and over, each time with all their work, so whoever has
// lost, or finds somebody there, waits for those that came before.
//
// Thread-safety: any thread; who waits goes on where it was.
// Lifetime:      outlives its turns and everybody who waits for one.
// Errors:        none; who has waited too long goes on without a turn, and may lose again.
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

  // Ends with its object.
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

  // Whether somebody has the turn at `key`.
  bool busy(const std::string& key) const;
  // The turn at `key`, in the order of the calls; one that was not had when `patience` is over.
  Task<Turn> take(std::string key, std::chrono::nanoseconds patience);

 private:
  bool enter(const std::string& key, const Promise<bool>& mine);
  // The turn goes to the next one that still waits, if there is one.
  void leave(const std::string& key);

  std::atomic<std::size_t> keys_{0};  // in waiting_: almost always none, which costs no lock
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::deque<Promise<bool>>> waiting_;  // by the keys whose turn somebody has
};

}  // namespace backplane::registry

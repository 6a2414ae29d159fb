// A bound for work that many may want at once: so many have a turn, the others wait in the order they came.
//
// Thread-safety: any thread; who waits goes on where it was.
// Lifetime:      outlives its turns and everybody who waits for one.
// Errors:        none.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Turns {
 public:
  explicit Turns(std::size_t at_once) : free_(at_once) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Ends with its object.
  class Turn {
   public:
    Turn() = default;
    explicit Turn(Turns& turns) noexcept : turns_(&turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&& other) noexcept {
      std::swap(turns_, other.turns_);
      return *this;
    }
    ~Turn() {
      if (turns_ != nullptr) turns_->leave();
    }

   private:
    Turns* turns_ = nullptr;
  };

  Task<Turn> take() {
    Promise<bool> mine;
    if (!enter(mine)) {
      const bool given = co_await mine.future();
      (void)given;
    }
    co_return Turn(*this);
  }

 private:
  bool enter(const Promise<bool>& mine) {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) {
      waiting_.push_back(mine);
      return false;
    }
    --free_;
    return true;
  }
  // The turn goes to the next one, if there is one.
  void leave() {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    Promise<bool> next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next.set(true);
  }

  std::mutex mutex_;
  std::size_t free_;
  std::deque<Promise<bool>> waiting_;
};

}  // namespace BACKPLANE_API

// A semaphore for coroutines: at most `at_once` callers hold a turn at the same time. The other callers wait in the order of their arrival.
//
// Thread-safety: any thread. A coroutine resumes on the executor on which it called take().
// Lifetime:      must outlive its turns and every waiting coroutine.
// Errors:        none.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Bounds how many coroutines run one section at once. Fair: the longest waiting caller gets the next turn.
//
//   Turns turns(4);
//   const Turns::Turn turn = co_await turns.take();  // at most four at a time from here on
class Turns {
 public:
  // `at_once`: the number of turns, at least 1.
  explicit Turns(std::size_t at_once) : free_(at_once) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // One turn. The destructor releases it. An empty Turn holds no turn.
  class Turn {
   public:
    // Holds no turn.
    Turn() = default;
    // For take() only: adopts a turn that has already been counted.
    explicit Turn(Turns& turns) noexcept : turns_(&turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    // Swaps the turns. The former turn of this object is released when `other` is destroyed.
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

  // Waits for a turn. Not cancellable: a caller with a deadline checks it after the wait.
  Task<Turn> take() {
    Promise<bool> mine;
    if (!enter(mine)) {
      const bool given = co_await mine.future();
      (void)given;
    }
    co_return Turn(*this);
  }

 private:
  // Acquires a free turn. If none is free, queues `mine` and returns false; `mine` is set when the caller gets a turn.
  bool enter(const Promise<bool>& mine) {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) {
      waiting_.push_back(mine);
      return false;
    }
    --free_;
    return true;
  }
  // Hands the turn over to the caller that has waited longest. If no caller waits, the turn becomes free.
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

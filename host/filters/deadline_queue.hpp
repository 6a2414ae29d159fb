// The deadlines of the requests of one thread; each costs one list insertion.
//
// Nearly every request ends long before its deadline, and nearly all have the same timeout.  So each thread has one timer, set to the
// earliest deadline; when it fires, the expired entries are called and the timer is set to the next deadline.
// Thread-safety: one queue per executor thread; everything happens on that thread.
// Lifetime:      an entry leaves the queue when it is destroyed.
#pragma once

#include <chrono>
#include <functional>

namespace backplane {

class DeadlineQueue {
 public:
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    virtual ~Entry() { unlink(); }

   protected:
    // Called once, on the thread of the queue, when the deadline has passed.  May destroy this entry, but no other entry of the queue.
    virtual void on_deadline() = 0;
    void unlink() noexcept;

   private:
    friend class DeadlineQueue;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    std::chrono::steady_clock::time_point deadline_;
  };

  // The queue of the current executor's thread.  Must be called on an executor.
  static DeadlineQueue& current();
  void add(Entry& entry, std::chrono::steady_clock::time_point deadline);

 private:
  DeadlineQueue();
  void arm(std::chrono::steady_clock::time_point when);
  void ring();

  class Head final : public Entry {
    void on_deadline() override {}
  };
  Head head_;
  std::chrono::steady_clock::time_point armed_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace backplane

// The deadlines of the requests of one thread. To add a deadline costs one list insertion.
//
// Nearly all requests end long before their deadline, and nearly all have the same timeout. Each thread therefore has one timer, which is
// set to the earliest deadline. When the timer fires, on_deadline() of the expired entries is called, and the timer is set to the next
// deadline.
// Thread-safety: each executor thread has one queue, which is used on that thread only.
// Lifetime:      the destructor of an entry removes it from its queue.
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
    // Called once, on the thread of the queue, after the deadline. May destroy this entry, but no other entry of the queue.
    virtual void on_deadline() = 0;
    void unlink() noexcept;

   private:
    friend class DeadlineQueue;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    std::chrono::steady_clock::time_point deadline_;
  };

  // Returns the queue of the current thread. Must be called on an executor.
  static DeadlineQueue& current();
  void add(Entry& entry, std::chrono::steady_clock::time_point deadline);

 private:
  DeadlineQueue();
  void arm(std::chrono::steady_clock::time_point when);
  void run_due();

  class Head final : public Entry {
    void on_deadline() override {}
  };
  Head head_;
  std::chrono::steady_clock::time_point armed_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace backplane

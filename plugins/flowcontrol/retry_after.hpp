// Computes the Retry-After of requests that a priority level refuses: it grows with the number of refused requests, up to 32 seconds.
//
// Thread-safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace backplane::flowcontrol {

class RetryAfter {
 public:
  // Counts a refused request in that second of the clock; returns the seconds of its Retry-After header.
  std::int64_t refused(std::int64_t second) {
    const std::lock_guard lock(mutex_);
    if (second == current_) {
      ++count_;
      return wait_;
    }
    remember();
    current_ = second;
    count_ = 1;
    change(second);
    return wait_;
  }

 private:
  static constexpr std::int64_t kLongest = 32;

  void remember() {
    past_.emplace_back(current_, count_);
    const std::int64_t kept = std::min(2 * wait_, kLongest);
    while (current_ - past_.front().first > kept) past_.pop_front();
  }
  // The wait doubles if at least three requests per second were refused in the last wait_ seconds, but at most once in wait_ seconds. It
  // shrinks by one second if fewer than one request per second was refused.
  void change(std::int64_t second) {
    std::int64_t refused = 0;
    for (const auto& [when, count] : past_) {
      if (second - when <= wait_ && when < second) refused += count;
    }
    if (second - raised_ >= wait_ && refused >= 3 * wait_) {
      wait_ = std::min(2 * wait_, kLongest);
      raised_ = second;
    } else if (refused < wait_ && wait_ > 1) {
      --wait_;
    }
  }

  std::mutex mutex_;
  std::deque<std::pair<std::int64_t, std::int64_t>> past_;  // {second, number of requests refused in that second}
  std::int64_t current_ = 0;
  std::int64_t count_ = 0;
  std::int64_t wait_ = 1;
  std::int64_t raised_ = 0;
};

}  // namespace backplane::flowcontrol

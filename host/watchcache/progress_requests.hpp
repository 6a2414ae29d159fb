// While a reader waits for a revision of the store, requests progress notifications from stores that send them only on request.
//
// Thread-safety: every method from any thread.
// Lifetime:      a Waiting holds its FollowedStore; the requests run in the task group of that.
// Errors:        a failed request is logged and repeated.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "backplane/core/task.hpp"

namespace backplane {

struct FollowedStore;

class ProgressRequests {
 public:
  // Time between two requests while a reader waits (upstream's period).
  static constexpr std::chrono::milliseconds kPeriod{100};

  // While an object of this class exists, requests are sent.
  class Waiting {
   public:
    explicit Waiting(std::shared_ptr<FollowedStore> store) : store_(std::move(store)) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting();

   private:
    const std::shared_ptr<FollowedStore> store_;
  };
  // `store`: the owner of this object. If its progress is immediate (StorageBackend::progress_is_immediate), no requests are sent.
  Waiting wait(std::shared_ptr<FollowedStore> store);

 private:
  static Task<void> ask(std::shared_ptr<FollowedStore> store);
  static Task<void> ask_once(FollowedStore& store);
  bool continue_requests();

  std::mutex mutex_;
  int waiting_ = 0;
  bool asking_ = false;
};

}  // namespace backplane

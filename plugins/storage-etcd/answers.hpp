// The one thread on which etcd's answers arrive, of every call and watch of a cluster.  gRPC's own threads for callbacks are two at least,
// which wake each other for each answer and get into each other's way.
//
// Thread-safety: any thread.
// Lifetime:      whoever waits is there until it has been told; the destructor waits for all of them.
// Errors:        none of its own.
#pragma once

#include <grpcpp/completion_queue.h>

#include <thread>

namespace backplane::etcd {

// Who is told that what was begun has ended; gRPC's tag.
class Waiter {
 public:
  // On the thread of the answers; must not block.
  virtual void happened(bool ok) = 0;

 protected:
  ~Waiter() = default;
};

class Answers {
 public:
  Answers();
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  // Its tags are Waiters.
  grpc::CompletionQueue* queue() noexcept { return &queue_; }

 private:
  void run();

  grpc::CompletionQueue queue_;
  std::thread thread_;
};

}  // namespace backplane::etcd

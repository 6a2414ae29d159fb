// The threads on which the functions of one storage backend of the stable tier run. Other than CallThreads they last until the store is
// closed, which is after the plugins' executors have ended.
//
// Thread-safety: any thread; stop() is called once, by a thread that is none of them.
// Lifetime:      the work may outlive the object if stop() has returned false: it owns what it uses.
// Errors:        none; the work lets no exception out.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace backplane::stable {

class StoreThreads {
 public:
  // Threads are made when work needs them, at most `most`.
  StoreThreads(std::string name, std::size_t most);
  ~StoreThreads();
  StoreThreads(const StoreThreads&) = delete;
  StoreThreads& operator=(const StoreThreads&) = delete;

  // Queues `work`; false after stop(), and it is dropped.
  bool post(std::function<void()> work);
  // In work of these threads: waits until no other work is queued or runs. False if that takes longer than `limit`.
  bool wait_alone(std::chrono::nanoseconds limit);
  // Runs what is queued, and joins the threads. False if one does not end within `limit`: all are then detached.
  bool stop(std::chrono::nanoseconds limit);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace backplane::stable

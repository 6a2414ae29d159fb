// The threads on which the functions of one storage backend of the stable tier run. Unlike CallThreads they run until the store is closed,
// which happens after the plugins' executors have ended.
//
// Thread-safety: any thread; stop() is called once, by another thread than these.
// Lifetime:      the work may outlive the object if stop() has returned false: it owns what it uses.
// Errors:        none; the work does not throw.
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

  // Queues `work`. After stop() it returns false, and drops `work`.
  bool post(std::function<void()> work);
  // Called by work on these threads: waits until no other work is queued or runs. False if that takes longer than `limit`.
  bool wait_alone(std::chrono::nanoseconds limit);
  // Runs the queued work, and joins the threads. If a thread has not ended within `limit`, it detaches all threads and returns false.
  bool stop(std::chrono::nanoseconds limit);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace backplane::stable

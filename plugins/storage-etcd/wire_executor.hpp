// The thread of a wire as an executor, for what nobody's own loop should hold up.
//
// Thread-safety: any thread.
// Lifetime:      outlives what runs on it; borrows the wire.
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <utility>

#include "backplane/core/task.hpp"
#include "wire_thread.hpp"

namespace backplane::etcd {

class WireExecutor final : public Executor {
 public:
  explicit WireExecutor(WireThread& wire) : wire_(wire) {}
  void post(std::function<void()> work) override { wire_.post(here(std::move(work))); }
  void post(std::coroutine_handle<> frame) override {
    wire_.post(here([frame] { frame.resume(); }));
  }
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override {
    const auto wanted = std::make_shared<std::atomic<bool>>(true);
    wire_.after(std::chrono::ceil<std::chrono::milliseconds>(delay), here([wanted, work = std::move(work)] {
                  if (wanted->exchange(false)) work();
                }));
    return [wanted] { wanted->store(false); };
  }

 private:
  std::function<void()> here(std::function<void()> work) {
    return [this, work = std::move(work)] {
      const ExecutorScope scope(this);
      work();
    };
  }
  WireThread& wire_;
};

}  // namespace backplane::etcd

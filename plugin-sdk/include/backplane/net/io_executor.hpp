// Executors that wait for descriptors, for who speaks a protocol of his own on the loop of a request.
//
// Thread-safety: the executor's thread alone.
// Lifetime:      a watch goes before its descriptor is closed, and before the executor.
// Errors:        watch() throws a std::exception where the system can watch no more, and for what is no descriptor.
#pragma once

#include <functional>
#include <memory>

#include "backplane/core/task.hpp"

namespace backplane BACKPLANE_API {

// Of one descriptor, which stays its owner's.  Work runs on the executor, never inside the call, and not once the watch is gone.
class DescriptorWatch {
 public:
  virtual ~DescriptorWatch();
  // Runs `work` once, when there is something to read, or an end or an error to be found by reading.  One at a time.
  virtual void when_readable(std::function<void()> work) = 0;
  // The same for writing.
  virtual void when_writable(std::function<void()> work) = 0;
};

// The loops of connections are some: `dynamic_cast<IoExecutor*>(current_executor())`.
class IoExecutor : public Executor {
 public:
  ~IoExecutor() override;
  virtual std::unique_ptr<DescriptorWatch> watch(int descriptor) = 0;
  // It is somebody's own, who may block it: nobody else should have to wait for what is done there.
  virtual bool may_block() const noexcept = 0;
  // Runs `work` when the executor is about to go and nothing runs on it any more: what it holds can be let go there.
  virtual void at_end(std::function<void()> work) = 0;
};

}  // namespace BACKPLANE_API

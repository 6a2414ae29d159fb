// Executors that wait for file descriptors, for plugins that implement a protocol on the event loop of a connection.
//
// Thread-safety: use only on the executor's thread.
// Lifetime:      destroy a DescriptorWatch before its descriptor is closed and before the executor is destroyed.
// Errors:        watch() throws std::exception if the descriptor is invalid or the system's limit is reached.
#pragma once

#include <functional>
#include <memory>

#include "backplane/core/task.hpp"

namespace backplane BACKPLANE_API {

// Reports the readiness of one descriptor, which the caller owns. Callbacks run on the executor, never inside when_readable() or
// when_writable(), and never after the DescriptorWatch is destroyed.
//
//   watch_ = loop.watch(socket);
//   watch_->when_readable([this] { read_some(); });
class DescriptorWatch {
 public:
  virtual ~DescriptorWatch();
  // Calls `work` once, when reading would not block (data, end of file or an error). Only one pending callback at a time.
  virtual void when_readable(std::function<void()> work) = 0;
  // Like when_readable(), for writing.
  virtual void when_writable(std::function<void()> work) = 0;
};

// An event loop. The executors of connections are event loops: `current_executor()->io()`.
class IoExecutor : public Executor {
 public:
  ~IoExecutor() override;
  IoExecutor* io() noexcept final { return this; }
  // Starts watching `descriptor`, which must stay open until the result is destroyed.
  virtual std::unique_ptr<DescriptorWatch> watch(int descriptor) = 0;
  // True if only one owner uses the executor and its work may block it. False if the executor is shared, so work on it must not block.
  virtual bool may_block() const noexcept = 0;
  // Calls `work` when the executor has ended and runs no other work any more: for releasing resources that belong to its thread.
  virtual void at_end(std::function<void()> work) = 0;
};

}  // namespace BACKPLANE_API

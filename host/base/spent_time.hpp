// Adds the duration of a scope to RequestContext::latencies of an audited request. Does not read the clock for other requests.
//
// Thread-safety: the executor of the request.
// Lifetime:      borrows the context; a coroutine may keep it across a co_await.
#pragma once

#include <chrono>

#include "backplane/core/request.hpp"

namespace backplane {

class SpentTime {
 public:
  using Part = std::chrono::nanoseconds RequestLatencies::*;
  SpentTime(RequestContext& context, Part part) noexcept : context_(context.audit != nullptr ? &context : nullptr), part_(part) {
    if (context_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  ~SpentTime() {
    if (context_ != nullptr) context_->latencies.*part_ += std::chrono::steady_clock::now() - began_;
  }
  SpentTime(const SpentTime&) = delete;
  SpentTime& operator=(const SpentTime&) = delete;

 private:
  RequestContext* const context_;
  const Part part_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace backplane

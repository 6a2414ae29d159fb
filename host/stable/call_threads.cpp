#include "stable/call_threads.hpp"

#include <algorithm>
#include <exception>

namespace backplane::stable {
namespace {

thread_local CallPlace t_place = CallPlace::kOther;

}  // namespace

CallPlace call_place() noexcept { return t_place; }
CallScope::CallScope(CallPlace place) noexcept : before_(t_place) { t_place = place; }
CallScope::~CallScope() { t_place = before_; }

Task<void> run_on(Executor& thread, std::function<void()> work) {
  Executor* const origin = current_executor();
  co_await resume_on(thread);
  std::exception_ptr error;
  try {
    const CallScope scope(CallPlace::kWaiting);
    work();
  } catch (...) {
    error = std::current_exception();
  }
  if (origin != nullptr) co_await resume_on(*origin);
  if (error) std::rethrow_exception(error);
}

Task<void> CallThreads::run(std::function<void()> work) {
  const auto least = std::min_element(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) { return a.load() < b.load(); });
  struct Counted {
    explicit Counted(std::atomic<int>& of) : calls(of) { ++calls; }
    ~Counted() { --calls; }
    std::atomic<int>& calls;
  };
  const Counted counted(*least);
  Executor& thread = executor_of(static_cast<std::size_t>(least - calls_.begin()));
  auto running = run_on(thread, std::move(work));
  co_await std::move(running);
}

Executor& CallThreads::next() { return executor_of(turn_.fetch_add(1, std::memory_order_relaxed) % kThreads); }

Executor& CallThreads::executor_of(std::size_t thread) { return host_.executor(name_ + "/" + std::to_string(thread)); }

}  // namespace backplane::stable

#include "app/log_check.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace backplane {
namespace {

class LogCheck final : public HealthCheck {
 public:
  explicit LogCheck(LogCheckConfig config) : config_(std::move(config)) {}

  std::string name() const override { return "log"; }

  Task<Status> check() override {
    std::call_once(started_, [this] {
      last_flush_ = config_.now();
      thread_ = std::jthread([this](std::stop_token stop) { flush_until(stop); });
    });
    if (config_.now() - last_flush_.load() < config_.limit) co_return Status();
    co_return Status(Reason::kInternalError, "logging blocked");
  }

 private:
  // On a separate thread, because a flush may block forever.
  void flush_until(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any pause;
    while (!stop.stop_requested()) {
      config_.flush();
      last_flush_ = config_.now();
      std::unique_lock lock(mutex);
      pause.wait_for(lock, stop, config_.interval, [] { return false; });
    }
  }

  LogCheckConfig config_;
  std::once_flag started_;
  std::atomic<std::chrono::steady_clock::time_point> last_flush_{};
  std::jthread thread_;  // the last member: the thread ends before the other members are destroyed
};

}  // namespace

std::shared_ptr<HealthCheck> make_log_check(LogCheckConfig config) { return std::make_shared<LogCheck>(std::move(config)); }

}  // namespace backplane

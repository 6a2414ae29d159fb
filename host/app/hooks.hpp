// The hooks of every delegate and of the host: post-start all at once, pre-shutdown one after another.
//
// Thread-safety: add() on one thread before start(); the rest from any thread.
// Lifetime:      outlives the hooks' tasks.
// Errors:        add(): duplicates name the first registrant; late ones are refused.  A post-start hook that fails calls `fatal` once;
//                pre-shutdown hooks all run, and their errors come back together.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.hpp"
#include "routing/delegation.hpp"

namespace backplane {

class Hooks {
 public:
  // The executor of whoever registered a hook.
  using ExecutorOf = std::function<Executor&(const std::string& registrant)>;
  // `fatal` gets the sentence to die with; it may return (tests).
  explicit Hooks(std::function<void(std::string why)> fatal) : fatal_(std::move(fatal)), all_done_("PostStartHooksDone") {}

  Status add(PostStartHookEntry entry);
  Status add(PreShutdownHookEntry entry);
  // One check poststarthook/<name> per hook, red until the hook has returned.
  std::vector<std::shared_ptr<HealthCheck>> health_checks() const;
  // Starts every post-start hook on its registrant's executor; nothing can be added afterwards.
  void start(TaskGroup& tasks, const ExecutorOf& executor_of, Signal& stop);
  // Fires when every post-start hook has returned.
  Signal& all_done() noexcept { return all_done_; }
  // Each hook on its registrant's executor.  One that has not ended within `limit` is an error, and is left to itself.
  Task<Status> run_pre_shutdown(TaskGroup& tasks, ExecutorOf executor_of, std::chrono::nanoseconds limit);

 private:
  struct Started {
    PostStartHookEntry entry;
    std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(false);
  };
  Task<void> run(std::size_t index, PostStartHookContext context);

  std::function<void(std::string)> fatal_;
  std::vector<Started> post_start_;
  std::vector<PreShutdownHookEntry> pre_shutdown_;
  std::atomic<std::size_t> running_{0};
  bool post_start_called_ = false;
  std::atomic<bool> pre_shutdown_called_{false};
  NamedSignal all_done_;
};

}  // namespace backplane

// The hooks of the plugins and of the host. Post-start hooks run concurrently, pre-shutdown hooks one after another.
//
// Thread-safety: add() on one thread before start(); replace() by one thread at a time; the rest from any thread.
// Lifetime:      outlives the hooks' tasks.
// Errors:        add(): a duplicate name, with the first registrant; a hook that is added after its kind has been started.
//                If a post-start hook fails that the server needs, `fatal` is called. If another one fails, the log names the hook and its
//                registrant once, and its health check stays red.
//                run_pre_shutdown(): runs every hook and returns all errors together.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/task_group.hpp"
#include "routing/delegation.hpp"

namespace backplane {

// The post-start hooks of one registrant.
struct HookProgress {
  std::string running, failed;  // names of the first hook that has not returned, and of the first that has failed; empty: none
};

class Hooks {
 public:
  // The executor of the plugin or host part that registered the hook.
  using ExecutorOf = std::function<Executor&(const std::string& registrant)>;
  // Whether the server cannot run if this post-start hook fails.
  using IsNeeded = std::function<bool(const PostStartHookEntry& hook)>;
  // `fatal` receives the message with which the process exits; in tests it may return.
  Hooks(std::function<void(std::string why)> fatal, IsNeeded is_needed)
      : fatal_(std::move(fatal)), is_needed_(std::move(is_needed)), all_done_("PostStartHooksDone") {}

  // A post-start hook of this name is not added. Call it before add().
  void disable(std::string name) { disabled_.insert(std::move(name)); }
  Status add(PostStartHookEntry entry);
  Status add(PreShutdownHookEntry entry);
  // One check poststarthook/<name> per hook, red until the hook has returned without an error.
  std::vector<std::shared_ptr<HealthCheck>> health_checks() const;
  // Replaces the hooks of one registrant in a running server. The new post-start hooks have run already.
  void replace(const std::string& registrant, const std::vector<PostStartHookEntry>& post_start,
               const std::vector<PreShutdownHookEntry>& pre_shutdown);
  // Starts every post-start hook on its registrant's executor; nothing can be added afterwards.
  void start(TaskGroup& tasks, const ExecutorOf& executor_of, Signal& stop);
  // After the time `after`, logs each post-start hook that has not returned. Runs on `executor`.
  void report_slow(Executor& executor, std::chrono::seconds after) const;
  // Fires when every post-start hook has returned.
  Signal& all_done() noexcept { return all_done_; }
  HookProgress progress_of(const std::string& registrant) const;
  std::size_t pre_shutdown_count() const;
  // Runs each hook on its registrant's executor. A hook that has not returned within `limit` is an error; the next hook then starts.
  Task<Status> run_pre_shutdown(TaskGroup& tasks, ExecutorOf executor_of, std::chrono::nanoseconds limit);

 private:
  enum class Progress : unsigned char { kRunning, kFinished, kFailed };
  struct Started {
    PostStartHookEntry entry;
    std::shared_ptr<std::atomic<Progress>> progress = std::make_shared<std::atomic<Progress>>(Progress::kRunning);
  };
  static Task<Status> finished(std::shared_ptr<std::atomic<Progress>> progress);
  using StartedRef = std::shared_ptr<const Started>;
  Task<void> run(StartedRef hook, PostStartHookContext context);

  std::set<std::string> disabled_;
  std::function<void(std::string)> fatal_;
  IsNeeded is_needed_;
  mutable std::mutex mutex_;  // guards the lists of hooks after start()
  std::vector<StartedRef> post_start_;
  std::vector<PreShutdownHookEntry> pre_shutdown_;
  std::atomic<std::size_t> running_{0};
  bool post_start_called_ = false;
  std::atomic<bool> pre_shutdown_called_{false};
  NamedSignal all_done_;
};

}  // namespace backplane

#include "app/hooks.hpp"

#include <algorithm>

#include "app/log.hpp"
#include "backplane/core/task_set.hpp"
#include "base/plain_message.hpp"
#include "routing/health.hpp"

namespace backplane {
namespace {

struct Kind {
  std::string_view plural;  // as upstream's errors name them
};
constexpr Kind kPostStart{"PostStartHooks"};
constexpr Kind kPreShutdown{"PreShutdownHooks"};

// Success if the hook can be added; otherwise upstream's error.
Status admit(const Kind& kind, const std::string& name, bool has_function, bool called, const std::string* first_registrant) {
  if (name.empty()) return bad_request("missing name");
  if (!has_function) return bad_request("hook func may not be nil: " + backplane::quoted(name));
  if (called) {
    return Status(Reason::kConflict,
                  "unable to add " + backplane::quoted(name) + " because " + std::string(kind.plural) + " have already been called");
  }
  if (first_registrant == nullptr) return {};
  return Status(Reason::kAlreadyExists,
                "unable to add " + backplane::quoted(name) + " because it was already registered by " + *first_registrant);
}

// Upstream's message, followed by the registrant.
std::string failed(std::string_view kind, const std::string& name, const std::string& registrant, const Status& status) {
  return std::string(kind) + backplane::quoted(name) + " failed: " + std::string(plain_message(status)) + " (registered by " + registrant +
         ")";
}

Task<void> report(PreShutdownHook hook, Promise<Status> ended) {
  auto running = hook();
  Status status = co_await std::move(running);
  ended.set(std::move(status));
}

}  // namespace

Status Hooks::add(PostStartHookEntry entry) {
  const auto first =
      std::find_if(post_start_.begin(), post_start_.end(), [&](const StartedRef& other) { return other->entry.name == entry.name; });
  Status status = admit(kPostStart, entry.name, static_cast<bool>(entry.hook), post_start_called_,
                        first == post_start_.end() ? nullptr : &(*first)->entry.registrant);
  if (!status.ok()) return status;
  if (disabled_.contains(entry.name)) {
    app_log().info("skipping {:?} because it was explicitly disabled", entry.name);
    return {};
  }
  post_start_.push_back(std::make_shared<const Started>(Started{std::move(entry)}));
  return {};
}

Status Hooks::add(PreShutdownHookEntry entry) {
  const auto first = std::find_if(pre_shutdown_.begin(), pre_shutdown_.end(), [&](const auto& other) { return other.name == entry.name; });
  Status status = admit(kPreShutdown, entry.name, static_cast<bool>(entry.hook), pre_shutdown_called_.load(),
                        first == pre_shutdown_.end() ? nullptr : &first->registrant);
  if (!status.ok()) return status;
  pre_shutdown_.push_back(std::move(entry));
  return {};
}

std::vector<std::shared_ptr<HealthCheck>> Hooks::health_checks() const {
  std::vector<std::shared_ptr<HealthCheck>> checks;
  const std::lock_guard lock(mutex_);
  for (const auto& hook : post_start_) {
    checks.push_back(make_health_check("poststarthook/" + hook->entry.name, [progress = hook->progress] { return finished(progress); }));
  }
  return checks;
}

void Hooks::start(TaskGroup& tasks, const ExecutorOf& executor_of, Signal& stop) {
  post_start_called_ = true;
  running_ = post_start_.size();
  if (post_start_.empty()) all_done_.fire();
  for (const auto& hook : post_start_) {
    Executor& executor = executor_of(hook->entry.registrant);
    tasks.spawn(executor, "poststarthook/" + hook->entry.name, run(hook, PostStartHookContext{executor, stop}));
  }
}

void Hooks::replace(const std::string& registrant, const std::vector<PostStartHookEntry>& post_start,
                    const std::vector<PreShutdownHookEntry>& pre_shutdown) {
  // The replaced hooks are destroyed after the lock is released, because they are code of the registrant.
  std::vector<StartedRef> started;
  std::vector<PreShutdownHookEntry> at_end;
  const std::lock_guard lock(mutex_);
  started = post_start_;
  at_end = pre_shutdown_;
  std::erase_if(post_start_, [&](const auto& hook) { return hook->entry.registrant == registrant; });
  std::erase_if(pre_shutdown_, [&](const auto& hook) { return hook.registrant == registrant; });
  for (const auto& entry : post_start) {
    if (disabled_.contains(entry.name)) continue;
    auto done = std::make_shared<Started>(Started{entry});
    done->progress->store(Progress::kFinished);
    post_start_.push_back(std::move(done));
  }
  pre_shutdown_.insert(pre_shutdown_.end(), pre_shutdown.begin(), pre_shutdown.end());
}

HookProgress Hooks::progress_of(const std::string& registrant) const {
  const std::lock_guard lock(mutex_);
  HookProgress out;
  for (const auto& hook : post_start_) {
    if (hook->entry.registrant != registrant) continue;
    const Progress progress = hook->progress->load();
    if (progress == Progress::kRunning && out.running.empty()) out.running = hook->entry.name;
    if (progress == Progress::kFailed && out.failed.empty()) out.failed = hook->entry.name;
  }
  return out;
}

std::size_t Hooks::pre_shutdown_count() const {
  const std::lock_guard lock(mutex_);
  return pre_shutdown_.size();
}

Task<Status> Hooks::finished(std::shared_ptr<std::atomic<Progress>> progress) {
  switch (progress->load()) {
    case Progress::kFinished:
      co_return Status();
    case Progress::kFailed:
      co_return Status(Reason::kInternalError, "failed");
    case Progress::kRunning:
      break;
  }
  co_return Status(Reason::kInternalError, "not finished");
}

Task<void> Hooks::run(StartedRef started, PostStartHookContext context) {
  const Started& hook = *started;
  auto running = hook.entry.hook(std::move(context));
  Status status = co_await std::move(running);
  if (!status.ok() && is_needed_(hook.entry)) {
    fatal_(failed("PostStartHook ", hook.entry.name, hook.entry.registrant, status));
    co_return;
  }
  if (status.ok()) {
    app_log().debug("post-start hook finished name={}", hook.entry.name);
  } else {
    app_log().error("post-start hook failed, its health check stays red plugin={} hook={} error={:?}", hook.entry.registrant,
                    hook.entry.name, plain_message(status));
  }
  hook.progress->store(status.ok() ? Progress::kFinished : Progress::kFailed);
  if (running_.fetch_sub(1) == 1) all_done_.fire();
}

void Hooks::report_slow(Executor& executor, std::chrono::seconds after) const {
  // Copies of the names, because a copy of a hook would keep the plugin's captured objects alive.
  struct Watched {
    std::string registrant, name;
    std::shared_ptr<std::atomic<Progress>> progress;
  };
  std::vector<Watched> watched;
  for (const auto& hook : post_start_) watched.push_back({hook->entry.registrant, hook->entry.name, hook->progress});
  executor.after(after, [watched = std::move(watched), after] {
    for (const Watched& hook : watched) {
      if (hook.progress->load() != Progress::kRunning) continue;
      app_log().warn("post-start hook has not finished, its health check stays red plugin={} hook={} after={}s", hook.registrant, hook.name,
                     after.count());
    }
  });
}

Task<Status> Hooks::run_pre_shutdown(TaskGroup& tasks, ExecutorOf executor_of, std::chrono::nanoseconds limit) {
  pre_shutdown_called_ = true;
  std::vector<std::string> problems;
  std::vector<PreShutdownHookEntry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries = pre_shutdown_;
  }
  for (const auto& hook : entries) {
    Promise<Status> ended;
    if (!tasks.spawn(executor_of(hook.registrant), "preshutdownhook/" + hook.name, report(hook.hook, ended))) continue;
    auto waiting = within(limit, ended, Status(Reason::kTimeout, "it has not ended in time"));
    Status status = co_await std::move(waiting);
    if (!status.ok()) problems.push_back(failed("PreShutdownHook ", hook.name, hook.registrant, status));
  }
  if (problems.empty()) co_return Status();
  if (problems.size() == 1) co_return internal_error(problems[0]);
  std::string all;
  for (const auto& problem : problems) all += (all.empty() ? "[" : ", ") + problem;
  co_return internal_error(all + "]");
}

}  // namespace backplane

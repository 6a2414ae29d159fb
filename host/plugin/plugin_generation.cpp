#include "plugin/plugin_generation.hpp"

#include <link.h>

#include <semaphore>

#include "plugin/log.hpp"

namespace backplane {
namespace {

// Blocks this thread until `signal` or `stop_waiting` fires, or until `limit` has passed. Returns true if `signal` has fired.
bool fires_within(Signal& signal, NamedSignal& stop_waiting, std::chrono::nanoseconds limit) {
  const auto woken = std::make_shared<std::counting_semaphore<4>>(0);
  signal.on_fire([woken] { woken->release(); });
  stop_waiting.on_fire_while(woken, [woken = woken.get()] { woken->release(); });  // stop_waiting lives as long as the server
  (void)woken->try_acquire_for(limit);
  return signal.fired();
}

Task<void> run_hook(PreShutdownHook hook, std::string plugin, std::string name, std::shared_ptr<NamedSignal> ended) {
  auto running = hook();
  const Status status = co_await std::move(running);
  if (!status.ok()) plugin_log().error("pre-shutdown hook failed plugin={} hook={} error={:?}", plugin, name, status.message());
  ended->fire();
}

Task<void> run_hook(PostStartHook hook, PostStartHookContext context, std::shared_ptr<Status> outcome, std::shared_ptr<NamedSignal> ended) {
  auto running = hook(context);
  *outcome = co_await std::move(running);
  ended->fire();
}

Task<void> fire_when_idle(TaskGroup& tasks, std::shared_ptr<NamedSignal> idle) {
  auto waiting = tasks.wait_all();
  co_await std::move(waiting);
  idle->fire();
}

struct Mapping {
  const std::string& file;
  std::size_t bytes = 0;
};
// The size of the loadable segments of a mapped file.
std::size_t mapped_size(const std::string& file) {
  Mapping mapping{file};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<Mapping*>(data);
    if (info->dlpi_name == nullptr || wanted.file != info->dlpi_name) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_LOAD) wanted.bytes += info->dlpi_phdr[i].p_memsz;
    }
    return 1;
  };
  if (!file.empty()) (void)dl_iterate_phdr(look, &mapping);
  return mapping.bytes;
}

}  // namespace

PluginGeneration::PluginGeneration(std::string name, LoadedPlugin loaded, HostServices& services, TakenNames names)
    : name_(std::move(name)),
      loaded_(std::move(loaded)),
      mapped_bytes_(mapped_size(loaded_.code.copy())),
      services_(services),
      names_(std::move(names)),
      loops_(std::in_place),
      stop_("StopPlugins"),
      unused_(std::make_shared<NamedSignal>("unused")),
      hold_(this, [unused = unused_](const void*) { unused->fire(); }),
      host_(std::make_unique<StagingHost>(name_, services_, names_, GenerationParts{*loops_, tasks_, stop_, hold_})) {}

PluginGeneration::~PluginGeneration() {
  if (host_) services_.api.drop_callbacks(host_.get());
  admission_.clear();
  rows_ = {};
  target_.reset();
  loaded_.plugin.reset();
}

void PluginGeneration::commit() {
  rows_ = host_->commit();
  target_ = std::make_shared<const DelegationTarget>(std::move(rows_.target));
}

Result<std::shared_ptr<const AdmissionPlugin>> PluginGeneration::admission(const AdmissionRegistration& registration,
                                                                           const AdmissionPluginConfig& config) {
  auto& made = admission_[registration.name];
  if (made) return made;
  auto plugin = registration.factory(config);
  if (!plugin.ok()) return std::move(plugin.status());
  made = std::move(*plugin);
  return made;
}

Status PluginGeneration::activate(std::chrono::nanoseconds limit) {
  start_loops();
  NamedSignal never("never");
  for (const auto& hook : target_->post_start_hooks) {
    auto outcome = std::make_shared<Status>();
    auto ended = std::make_shared<NamedSignal>("ended");
    tasks_.spawn(executor(), "poststarthook/" + hook.name, run_hook(hook.hook, PostStartHookContext{executor(), stop_}, outcome, ended));
    if (!fires_within(*ended, never, limit)) return Status(Reason::kTimeout, "post-start hook " + hook.name + " has not ended in time");
    if (!outcome->ok()) return std::move(*outcome);
  }
  return {};
}

void PluginGeneration::stop_tasks() {
  stop_.fire();
  tasks_.close();
}

void PluginGeneration::run_pre_shutdown_hooks(std::chrono::nanoseconds limit, NamedSignal& stop_waiting) {
  if (!target_) return;  // the generation was only staged
  for (const auto& hook : target_->pre_shutdown_hooks) {
    auto ended = std::make_shared<NamedSignal>("ended");
    tasks_.spawn(executor(), "preshutdownhook/" + hook.name, run_hook(hook.hook, name_, hook.name, ended));
    if (!fires_within(*ended, stop_waiting, limit)) {
      plugin_log().error("pre-shutdown hook has not ended in time plugin={} hook={}", name_, hook.name);
    }
  }
}

// Ends the watches of this generation, in rounds. Informers (of any plugin) restart their watch at once and reach the successor. A watch
// that has reached this generation just before is ended in the next round.
bool PluginGeneration::drain(const RetireLimits& limits, NamedSignal& stop_waiting) {
  const auto until = std::chrono::steady_clock::now() + limits.requests;
  std::chrono::nanoseconds round = std::chrono::milliseconds(100);
  while (!unused_->fired() && !stop_waiting.fired()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds::zero()) break;
    if (const Hold hold = host_->hold()) services_.stores.end_watches(hold);
    if (fires_within(*unused_, stop_waiting, std::min<std::chrono::nanoseconds>(round, left))) break;
    round *= 4;
  }
  stop_tasks();
  if (tasks_.running() > 0) {
    auto idle = std::make_shared<NamedSignal>("idle");
    spawn_detached(executor(), fire_when_idle(tasks_, idle));
    if (!fires_within(*idle, stop_waiting, limits.tasks)) return false;
  }
  host_->release_registered();
  return fires_within(*unused_, stop_waiting, limits.tasks);
}

std::optional<MappedCode> PluginGeneration::retire(const RetireLimits& limits, NamedSignal& stop_waiting) {
  if (call_given_up_ && !fires_within(*call_given_up_, stop_waiting, limits.requests)) {
    plugin_log().error("a call of a plugin has not returned, the plugin stays in memory plugin={}", name_);
    return std::nullopt;
  }
  if (loops_started_) {
    run_pre_shutdown_hooks(limits.pre_shutdown, stop_waiting);
  } else if (tasks_.running() > 0) {
    // The generation was committed, but not put into service. Its tasks see the stop signal and end.
    stop_tasks();
    start_loops();
  }
  services_.api.drop_callbacks(host_.get());
  host_->discard();
  services_.stores.forget_kinds(hold_);
  if (target_ && target_->watches) target_->watches->end_all();
  admission_.clear();
  rows_ = {};
  target_.reset();
  hold_.reset();
  if (!drain(limits, stop_waiting)) {
    plugin_log().error("a plugin that has been taken out of service is still in use, it stays in memory plugin={} tasks={} requests={}",
                       name_, tasks_.running(), !unused_->fired());
    return std::nullopt;
  }
  if (const auto stuck = stop_loops(limits.loops); !stuck.empty()) {
    plugin_log().error("a plugin that has been taken out of service blocks its executor, it stays in memory plugin={}", name_);
    return std::nullopt;
  }
  loaded_.plugin.reset();
  host_.reset();
  loops_.reset();
  return std::move(loaded_.code);
}

}  // namespace backplane

// The thread of a Runner: starts each process, waits for its end, and starts the next process after a pause.
#include <algorithm>

#include "runner/log.hpp"
#include "runner/runner.hpp"

namespace backplane::runner {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::seconds kLongestPause{30};
constexpr std::chrono::seconds kStable{60};  // a process that has lived longer begins with the first pause again
constexpr std::size_t kMostCrashes = 5;      // within kCrashesCount
constexpr std::chrono::minutes kCrashesCount{5};
constexpr std::size_t kKeptChannels = 4;

// The fields that record_crashes_in() writes, in this order: signal, plugin, version, file, digest, place, call, thread.
std::vector<std::string> fields_of(const std::string& record) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= record.size();) {
    const auto end = std::min(record.find('\t', at), record.size());
    fields.push_back(record.substr(at, end - at));
    at = end + 1;
  }
  fields.resize(8);
  return fields;
}

// Returns the names of the functions without repetitions: "check(), admit()".
std::string names_of(const std::vector<std::uint16_t>& functions) {
  std::string out;
  for (const std::uint16_t function : functions) {
    const FunctionRow* const row = row_of(function);
    if (row == nullptr || out.find(row->name) != std::string::npos) continue;
    out += (out.empty() ? "" : ", ") + std::string(row->name);
  }
  return out;
}

}  // namespace

std::string crash_text(const Crash& crash) {
  std::string out = crash.how;
  if (!crash.calls.empty() && out.find("()") == std::string::npos) out += " in " + crash.calls;
  if (!crash.place.empty()) out += " at " + crash.place;
  return out;
}

void Runner::supervise() {
  for (bool first = true;; first = false) {
    const auto begun = Clock::now();
    Process process(options_.program, {options_.file, options_.plugin, options_.version, options_.shown_file}, options_.output);
    if (process.pid() > 0) live(process, first);
    note_end(process, Clock::now() - begun);
    Crash crash;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ || !validated_) return set_state(RunnerState::kEnded);
      crash = status_.last_crash;
    }
    options_.changed();
    if (!pause(crash, Clock::now() - begun)) return;
  }
}

// Runs one process, from its start to its end.
void Runner::live(Process& process, bool first) {
  const auto channel = std::make_shared<Channel>(
      process.take_socket(),
      [this](std::uint16_t function, std::string_view payload) { return registrations_.serve(static_cast<Function>(function), payload); },
      kChannelLimits, "runner-channel");
  channel->on_closed([this, closed = static_cast<const Channel*>(channel.get())] {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && process_ != nullptr && channel_.get() == closed) process_->kill();
  });
  {
    const std::lock_guard lock(mutex_);
    process_ = &process;
    channel_ = channel;
    status_.pid = process.pid();
    ended_by_.clear();
    changed_.notify_all();
  }
  channel->start();
  if (!first && bring_up()) catch_up();
  (void)process.wait(-1);
  channel->close();
}

// Repeats the host's lifecycle calls for a later process, and configures the admission rules again.
bool Runner::bring_up() {
  const stable::CallScope place(stable::CallPlace::kLifecycle);
  Writer config;
  put(config, stable::str(config_));
  Status status = call_lifecycle(Function::kLoad, {});
  if (status.ok()) status = call_lifecycle(Function::kConfigure, config.take());
  if (status.ok()) {
    registrations_.begin_again();
    status = call_lifecycle(Function::kProvision, {});
    if (!registrations_.end() && status.ok()) {
      status = Status(Reason::kConflict, "the restarted plugin registers less than when it was loaded; reload it");
    }
  }
  if (status.ok()) status = call_lifecycle(Function::kValidate, {});
  for (Proxy& proxy : registrations_.proxies()) {
    const std::lock_guard lock(proxy.mutex);
    if (!status.ok() || !proxy.config) continue;
    Writer out;
    put(out, proxy.id);
    put(out, stable::str(*proxy.config));
    status = call_lifecycle(Function::kConfigureAdmission, out.take());
  }
  if (!status.ok()) {
    std::unique_lock lock(mutex_);
    const bool ended = channel_->closed();  // how the process ended is more precise than the error of the call
    lock.unlock();
    if (!ended) end_process("it could not be restarted: " + status.message());
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
    ++status_.restarts;
    set_state(RunnerState::kUp);
    runner_log().info("runner restarted plugin={} version={} pid={} restarts={}", options_.plugin, options_.version, status_.pid,
                      status_.restarts);
  }
  options_.changed();
  return true;
}

// Repeats the notifications that earlier processes have received since the plugin started.
void Runner::catch_up() {
  const stable::CallScope place(stable::CallPlace::kWaiting);
  for (Proxy& proxy : registrations_.proxies()) {
    if (!proxy.has_run.load()) continue;
    bp_error error{};
    if (call_back<Function::kRunHook>(&proxy, &error) == 0) continue;
    runner_log().error("post-start hook failed after a restart plugin={} hook={} error={:?}", options_.plugin, proxy.name,
                       stable::status_of(error).message());
  }
  registrations_.notify_controllers();
}

void Runner::note_end(const Process& process, Clock::duration lived) {
  const auto fields = fields_of(process.crash_record());
  std::unique_lock lock(mutex_);
  Crash crash;
  crash.how = process.pid() <= 0 ? "it could not be started" : !ended_by_.empty() ? ended_by_ : process.exit_description();
  crash.place = fields[5];
  crash.calls = !fields[6].empty() ? fields[6] : channel_ ? names_of(channel_->interrupted()) : "";
  crash.time = std::chrono::system_clock::now();
  if (channel_) former_.push_back(std::move(channel_));
  channel_.reset();
  process_ = nullptr;
  status_.pid = 0;
  if (!stopping_) {
    status_.last_crash = crash;
    runner_log().error("runner ended plugin={} version={} pid={} after={}ms reason={:?}", options_.plugin, options_.version, process.pid(),
                       std::chrono::duration_cast<std::chrono::milliseconds>(lived).count(), crash_text(crash));
  }
  set_state(RunnerState::kRestarting);
  std::vector<std::shared_ptr<Channel>> unused;
  while (former_.size() > kKeptChannels && former_.front().use_count() == 1) {
    unused.push_back(std::move(former_.front()));
    former_.erase(former_.begin());
  }
  lock.unlock();
}

// Waits before the next start. Returns false if the plugin is to end instead.
bool Runner::pause(const Crash& crash, Clock::duration lived) {
  const auto now = Clock::now();
  std::erase_if(crashes_, [now](auto time) { return time + kCrashesCount < now; });
  crashes_.push_back(now);
  consecutive_crashes_ = lived > kStable ? 0 : consecutive_crashes_;
  Clock::duration time = std::min<Clock::duration>(kFirstPause * (1U << std::min(consecutive_crashes_++, 10U)), kLongestPause);
  const bool quarantined = crashes_.size() >= kMostCrashes;
  if (quarantined) {
    const auto until = options_.quarantine(crash);
    time = std::chrono::duration_cast<Clock::duration>(until - std::chrono::system_clock::now());
    crashes_.clear();
    runner_log().error("runner quarantined plugin={} version={} for={}s reason={:?}", options_.plugin, options_.version,
                       std::chrono::duration_cast<std::chrono::seconds>(time).count(), crash_text(crash));
    const std::lock_guard lock(mutex_);
    status_.next_start = until;
    set_state(RunnerState::kQuarantined);
  }
  if (quarantined) options_.changed();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopping_; });
  if (stopping_) {
    set_state(RunnerState::kEnded);
    return false;
  }
  if (quarantined) set_state(RunnerState::kRestarting);
  return true;
}

}  // namespace backplane::runner

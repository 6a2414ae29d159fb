#include "runner/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/blocking_calls.hpp"
#include "runner/log.hpp"

namespace backplane::runner {
namespace {

constexpr std::chrono::seconds kBrief{2};  // the time that a call waits for the next process
constexpr std::chrono::seconds kEndTimeout{2};
constexpr int kLoopShare = 20;

std::string seconds_text(std::chrono::nanoseconds time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

// The answer to a lifecycle call has a code and an error.
Status status_of_outcome(const Result<std::string>& answer) {
  if (!answer.ok()) return answer.status();
  Reader in(*answer);
  std::int32_t code = -1;
  bp_error error{};
  take(in, code);
  take(in, error);
  if (!in.complete()) return unreadable_answer();
  return code == 0 ? Status() : stable::status_of(error);
}

std::string with_id(const Proxy& target, const std::string& arguments) {
  Writer out;
  put(out, target.id);
  return out.take() + arguments;
}

}  // namespace

Result<std::shared_ptr<Runner>> Runner::start(RunnerOptions options) {
  std::shared_ptr<Runner> runner(new Runner(std::move(options)));
  Runner& own = *runner;
  own.supervised_ = true;
  own.thread_ = std::thread([&own, slot = current_server_slot()] {
    const ServerScope server(slot);
    ::pthread_setname_np(::pthread_self(), "runner");
    own.supervise();
  });
  {
    std::unique_lock lock(own.mutex_);
    own.changed_.wait(lock, [&own] { return own.channel_ != nullptr || own.status_.state == RunnerState::kEnded; });
  }
  if (Status status = own.call_lifecycle(Function::kLoad, {}); !status.ok()) return status;
  return runner;
}

Runner::~Runner() { stop(false); }

RunnerStatus Runner::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

// The caller holds mutex_.
void Runner::set_state(RunnerState state) {
  status_.state = state;
  status_.state_since = std::chrono::system_clock::now();
  changed_.notify_all();
}

// ---- the table

bp_plugin Runner::table() {
  bp_plugin table{};
  table.struct_size = sizeof(table);
  table.self = this;
  table.configure = [](void* self, bp_str config, bp_error* error) { return static_cast<Runner*>(self)->configure(config, error); };
  table.provision = [](void* self, const bp_host* host, bp_error* error) { return static_cast<Runner*>(self)->provision(host, error); };
  table.validate = [](void* self, bp_error* error) { return static_cast<Runner*>(self)->validate(error); };
  table.destroy = [](void* self) { static_cast<Runner*>(self)->stop(true); };
  return table;
}

int32_t Runner::configure(bp_str config, bp_error* error) {
  config_ = stable::text(config);
  Writer out;
  put(out, config);
  return stable::guarded(error, [&] { return call_lifecycle(Function::kConfigure, out.take()); });
}

int32_t Runner::provision(const bp_host* host, bp_error* error) {
  registrations_.begin(*host);
  const int32_t code = stable::guarded(error, [&] { return call_lifecycle(Function::kProvision, {}); });
  (void)registrations_.end();
  return code;
}

int32_t Runner::validate(bp_error* error) {
  return stable::guarded(error, [&]() -> Status {
    if (Status status = call_lifecycle(Function::kValidate, {}); !status.ok()) return status;
    const std::lock_guard lock(mutex_);
    if (channel_ == nullptr || channel_->closed()) return service_unavailable("the runner process has ended");
    validated_ = true;
    set_state(RunnerState::kUp);
    return {};
  });
}

// ---- calls

std::chrono::nanoseconds Runner::limit_of(LimitKind limit_kind) const {
  switch (limit_kind) {
    case LimitKind::kLifecycle:
      return options_.limits.lifecycle;
    case LimitKind::kRequest:
      return options_.limits.request;
    case LimitKind::kWaiting:
      return options_.limits.waiting;
    case LimitKind::kLong:
      break;
  }
  return options_.limits.longest;
}

Result<std::string> Runner::call_process(const std::shared_ptr<Channel>& channel, Function function, std::string arguments) {
  const FunctionRow& row = *row_of(static_cast<std::uint16_t>(function));
  const auto limit = limit_of(row.limit_kind);
  auto answer = channel->call(static_cast<std::uint16_t>(function), std::move(arguments), Clock::now() + limit);
  if (answer.ok() || answer.status().reason() != Reason::kTimeout) return answer;
  end_process("it has not returned from " + std::string(row.name) + " within " + seconds_text(limit));
  return service_unavailable("plugin " + options_.plugin + " has not returned from " + row.name + " within " + seconds_text(limit));
}

Status Runner::call_lifecycle(Function function, std::string arguments) {
  std::shared_ptr<Channel> channel;
  {
    const std::lock_guard lock(mutex_);
    channel = channel_;
  }
  if (!channel) return unavailable();
  const auto answer = call_process(channel, function, std::move(arguments));
  if (answer.ok() || !channel->closed()) return status_of_outcome(answer);
  if (std::this_thread::get_id() == thread_.get_id()) return answer.status();
  // supervise() records the end of the process later, when the process has ended.
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kEndTimeout, [&] { return channel_ != channel; });
  if (status_.last_crash.how.empty()) return answer.status();
  return service_unavailable("the runner process has ended: " + crash_text(status_.last_crash));
}

// Returns null if no process runs. On a request's thread, it waits for the next process only for a table with `quick`, whose calls the host
// makes on a thread that may wait.
std::shared_ptr<Channel> Runner::channel_for(const Proxy& target) {
  std::unique_lock lock(mutex_);
  const bool may_wait = target.quick || stable::call_place() != stable::CallPlace::kRequest;
  const auto decided = [this] { return status_.state != RunnerState::kRestarting || stopping_; };
  if (may_wait && !decided()) changed_.wait_for(lock, kBrief, decided);
  return status_.state == RunnerState::kUp ? channel_ : nullptr;
}

Result<std::string> Runner::call(Function function, const Proxy& target, std::string arguments) {
  const auto channel = channel_for(target);
  if (!channel) return unavailable();
  const bool of_kind = row_of(static_cast<std::uint16_t>(function))->limit_kind == LimitKind::kRequest;
  std::optional<Waiting::iterator> waiting;
  if (of_kind) {
    auto begun = begin_waiting();
    if (!begun.ok()) return std::move(begun.status());
    waiting = *begun;
  }
  auto answer = call_process(channel, function, with_id(target, arguments));
  if (waiting) end_waiting(*waiting, answer.ok());
  if (!answer.ok() && channel->closed()) return unavailable();
  return answer;
}

// ---- calls of kinds

bool Runner::silent_for(std::chrono::nanoseconds limit) const {
  return !waiting_.empty() && Clock::now() - std::max(waiting_.front(), last_answer_) > limit;
}

Status Runner::answers() const {
  {
    const std::lock_guard lock(mutex_);
    if (status_.state == RunnerState::kUp) return silent_for(options_.limits.request / 2) ? not_answering() : Status();
  }
  return unavailable();
}

Status Runner::not_answering() const {
  StatusDetails details;
  details.retry_after_seconds = 1;
  return service_unavailable("plugin " + options_.plugin + " is not available: its process does not answer")
      .with_details(std::move(details));
}

// On an I/O loop, which serves other requests meanwhile, the limit is shorter. Few calls of kinds run there (conversions for tables).
Result<Runner::Waiting::iterator> Runner::begin_waiting() {
  const auto limit = on_blocking_executor() ? options_.limits.request / 2 : options_.limits.request / kLoopShare;
  const std::lock_guard lock(mutex_);
  if (silent_for(limit)) return not_answering();
  return waiting_.insert(waiting_.end(), Clock::now());
}

void Runner::end_waiting(Waiting::iterator call, bool answered) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(call);
  if (answered) last_answer_ = Clock::now();
}

Status Runner::unavailable() const {
  const std::lock_guard lock(mutex_);
  const std::string& how = status_.last_crash.how;
  std::string text = "plugin " + options_.plugin + " is not available";
  if (!how.empty()) text += ": its process has ended (" + how + ")";
  if (status_.state == RunnerState::kQuarantined) {
    text += " too often and is not restarted before the end of its quarantine";
  } else if (status_.state != RunnerState::kEnded) {
    text += how.empty() ? ": its process has ended and is being restarted" : " and is being restarted";
  }
  StatusDetails details;
  details.retry_after_seconds = 1;
  return service_unavailable(std::move(text)).with_details(std::move(details));
}

void Runner::end_process(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (process_ == nullptr) return;
  if (ended_by_.empty()) ended_by_ = why;
  process_->kill();
}

// ---- the end

void Runner::stop(bool destroy) {
  {
    const std::lock_guard lock(mutex_);
    if (!supervised_) return;
    stopping_ = true;
    changed_.notify_all();
  }
  if (destroy) (void)call_lifecycle(Function::kDestroy, {});
  {
    std::unique_lock lock(mutex_);
    if (channel_) channel_->close();  // the process then ends
    if (!changed_.wait_for(lock, kEndTimeout, [this] { return process_ == nullptr; })) process_->kill();
  }
  thread_.join();
  former_.clear();
  const std::lock_guard lock(mutex_);
  supervised_ = false;
}

}  // namespace backplane::runner

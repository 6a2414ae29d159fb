// A plugin of the stable tier in its own runner process. Runner starts the process, calls it, kills it if it does not answer, and starts
// another process when it has ended.
//
// The host uses Runner::table() as it uses the bp_plugin of any other plugin. The functions of its tables call the process. The process
// calls functions of the host's tables, which run on the thread that waits for the process. While no process runs, the registrations
// remain: a call waits for the next process for a short time, but on a request's thread it fails at once.
//
//   first process   load, configure, provision and validate, when the host calls them. If the process ends before validate() has returned,
//                   no other process is started.
//   later ones      the same calls; the registrations are compared with those of the first process. Then admission rules are configured,
//                   post-start hooks that have run before run again, and controllers receive all objects of their informers again.
//
// Thread-safety: call() and status() by any thread.
// Lifetime:      destroy() of the table ends the process, and so does the destructor of Runner.
// Errors:        kServiceUnavailable (503, with Retry-After) for calls that no process answers.
//
// A call of a kind's functions waits at most Limits::request. The process counts as not answering when such a call has waited for half of
// that time (a twentieth, for a new call on an I/O loop) and the process has answered no other call of a kind meanwhile. Further calls of
// kinds then fail at once, until the process answers or a new process runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runner/channel.hpp"
#include "runner/process.hpp"
#include "runner/proxy.hpp"
#include "runner/registrations.hpp"

namespace backplane::runner {

// Time limits of calls. The process is killed when it exceeds one.
struct Limits {
  std::chrono::nanoseconds lifecycle = std::chrono::seconds(27);
  std::chrono::nanoseconds request = std::chrono::seconds(2);   // callbacks of kinds
  std::chrono::nanoseconds waiting = std::chrono::seconds(10);  // other callbacks
  std::chrono::nanoseconds longest = std::chrono::seconds(60);  // paths, hooks, controllers, audit sinks
};

struct Crash {
  using Time = std::chrono::system_clock::time_point;
  std::string how;    // "SIGSEGV"; "it has not returned from check() within 2 s"
  std::string place;  // "/path/x.so+0x1234"; empty: the crash was not in the plugin's code, or the place is not known
  std::string calls;  // "check(), admit()": the calls that the host was waiting for; empty: none
  Time time = {};
};
// "SIGSEGV in check() at /path/x.so+0x1234"
std::string crash_text(const Crash& crash);

enum class RunnerState : unsigned char { kStarting, kUp, kRestarting, kQuarantined, kEnded };

struct RunnerStatus {
  RunnerState state = RunnerState::kStarting;
  int pid = 0;  // 0: there is no process
  unsigned restarts = 0;
  Crash last_crash;        // `how` is empty if no process has crashed
  Crash::Time next_start;  // the end of the last quarantine
  Crash::Time state_since;
};

struct RunnerOptions {
  std::string program;  // the executable; the process runs its command `plugin runner`
  std::string plugin, version;
  std::string file;        // the file that the process loads
  std::string shown_file;  // the file of which `file` is a copy, for messages
  Limits limits = {};
  std::function<void(std::string_view line)> output;  // a line on the process's standard output or error
  // Called when the process has ended five times within five minutes. Returns the time until which no process is started.
  std::function<Crash::Time(const Crash&)> quarantine;
  // Called on the thread of this object when the state has changed.
  std::function<void()> changed;
};

class Runner final : public Caller {
 public:
  // Starts the first process and loads the plugin. Errors: the error of the plugin's entry point; the process has ended.
  static Result<std::shared_ptr<Runner>> start(RunnerOptions options);
  ~Runner() override;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  bp_plugin table();
  RunnerStatus status() const;
  // Returns an error unless a process runs and answers calls of kinds.
  Status answers() const;
  Result<std::string> call(Function function, const Proxy& target, std::string arguments) override;

 private:
  using Clock = std::chrono::steady_clock;
  explicit Runner(RunnerOptions options) : options_(std::move(options)), registrations_(*this) {}

  // Run on thread_, which starts the processes and waits for their end.
  void supervise();
  void live(Process& process, bool first);
  bool bring_up();
  void catch_up();
  void note_end(const Process& process, Clock::duration lived);
  bool pause(const Crash& crash, Clock::duration lived);
  void set_state(RunnerState state);

  // Calls of the process, and the functions of table().
  std::chrono::nanoseconds limit_of(LimitKind limit_kind) const;
  Result<std::string> call_process(const std::shared_ptr<Channel>& channel, Function function, std::string arguments);
  Status call_lifecycle(Function function, std::string arguments);
  std::shared_ptr<Channel> channel_for(const Proxy& target);
  Status unavailable() const;
  void end_process(const std::string& why);
  int32_t configure(bp_str config, bp_error* error);
  int32_t provision(const bp_host* host, bp_error* error);
  int32_t validate(bp_error* error);
  void stop(bool destroy);

  // The start times of the calls of kinds that wait for an answer.
  using Waiting = std::list<Clock::time_point>;
  Result<Waiting::iterator> begin_waiting();
  void end_waiting(Waiting::iterator call, bool answered);
  // Whether a call of a kind has waited for `limit` and the process has answered no call of a kind since. The caller holds mutex_.
  bool silent_for(std::chrono::nanoseconds limit) const;
  Status not_answering() const;

  const RunnerOptions options_;
  Registrations registrations_;
  std::string config_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  RunnerStatus status_;
  bool validated_ = false, stopping_ = false, supervised_ = false;
  Process* process_ = nullptr;
  std::shared_ptr<Channel> channel_;
  std::string ended_by_;  // the reason why this object has killed the process
  std::vector<Clock::time_point> crashes_;
  unsigned consecutive_crashes_ = 0;
  std::vector<std::shared_ptr<Channel>> former_;  // channels of processes that have ended; calls may still use them
  Waiting waiting_;                               // the oldest call is first
  Clock::time_point last_answer_;
  std::thread thread_;
};

}  // namespace backplane::runner

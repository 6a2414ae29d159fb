// A plugin of the stable tier in a separate, supervised process: started, called, killed if it does not answer, and restarted when it has
// ended.
//
// To the host it is a bp_plugin like any other: the functions of its tables call the process; the process calls functions of the host's
// tables, which run on the thread that waits for the process. While no process runs, the registrations remain; calls wait for the next
// process for a short time, or fail at once on a request's thread.
//
//   first process   load → configure → provision → validate, as the host calls them; if it ends before that, no second process is
//                   started
//   later ones      the same calls, with the registrations compared; then admission rules are configured, hooks of startup run, and
//                   controllers get all objects of their informers again
//
// Thread-safety: call() and status() by any thread.
// Lifetime:      destroy() of the table ends the process; so does the destructor.
// Errors:        kServiceUnavailable (503, with Retry-After) for calls that no process answers.
//
// Calls of kinds wait for the process at most Limits::request.  A process that has not answered such a call for half of that time, and no
// other call since, counts as not answering: later calls of kinds fail at once, until it answers or has been ended and restarted.
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

// Time limits of calls; a process that does not keep one is ended.
struct Limits {
  std::chrono::nanoseconds lifecycle = std::chrono::seconds(27);
  std::chrono::nanoseconds request = std::chrono::seconds(2);   // callbacks of kinds
  std::chrono::nanoseconds waiting = std::chrono::seconds(10);  // other callbacks
  std::chrono::nanoseconds longest = std::chrono::seconds(60);  // paths, hooks, controllers
};

struct Crash {
  using Time = std::chrono::system_clock::time_point;
  std::string how;    // "SIGSEGV"; "it has not returned from check() within 2 s"
  std::string place;  // "/path/x.so+0x1234"; empty: not in the plugin's code, or not known
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
  Crash last_crash;        // `how` is empty: there was none
  Crash::Time next_start;  // of a quarantine
  Crash::Time state_since;
};

struct RunnerOptions {
  std::string program;  // the executable; the process runs its command `plugin runner`
  std::string plugin, version;
  std::string file;        // the file that the process loads
  std::string shown_file;  // the original of that copy, for messages
  Limits limits = {};
  std::function<void(std::string_view line)> output;  // a line on the process's standard output or error
  // Called when the process has ended five times within five minutes. Returns the time until which no process is started.
  std::function<Crash::Time(const Crash&)> quarantine;
  // The state has changed; called on the thread of this object.
  std::function<void()> changed;
};

class Runner final : public Caller {
 public:
  // Starts the first process and makes the plugin. Errors: those of the entry point; that the process has ended.
  static Result<std::shared_ptr<Runner>> start(RunnerOptions options);
  ~Runner() override;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  bp_plugin table();
  RunnerStatus status() const;
  // An error if there is no process that answers calls of kinds.
  Status answers() const;
  Result<std::string> call(Function function, const Proxy& target, std::string arguments) override;

 private:
  using Clock = std::chrono::steady_clock;
  explicit Runner(RunnerOptions options) : options_(std::move(options)), registrations_(*this) {}

  // The thread that owns the processes.
  void supervise();
  void live(Process& process, bool first);
  bool bring_up();
  void catch_up();
  void note_end(const Process& process, Clock::duration lived);
  bool pause(const Crash& crash, Clock::duration lived);
  void set_state(RunnerState state);

  // The calls of the lifecycle.
  std::chrono::nanoseconds limit_of(Patience patience) const;
  Result<std::string> call_process(const std::shared_ptr<Channel>& channel, Function function, std::string arguments);
  Status call_lifecycle(Function function, std::string arguments);
  std::shared_ptr<Channel> channel_for(const Proxy& target);
  Status unavailable() const;
  void end_process(const std::string& why);
  int32_t configure(bp_str config, bp_error* error);
  int32_t provision(const bp_host* host, bp_error* error);
  int32_t validate(bp_error* error);
  void stop(bool destroy);

  // Calls of kinds that wait for an answer.
  using Waiting = std::list<Clock::time_point>;
  Result<Waiting::iterator> begin_waiting();
  void end_waiting(Waiting::iterator call, bool answered);
  // Whether a call of a kind has waited for `limit` and the process has not answered since.  Called under mutex_.
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
  unsigned in_a_row_ = 0;
  std::vector<std::shared_ptr<Channel>> former_;  // of processes that have ended
  Waiting waiting_;                               // the oldest first
  Clock::time_point last_answer_;
  std::thread thread_;
};

}  // namespace backplane::runner

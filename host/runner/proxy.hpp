// The registrations of a plugin in a runner process, as tables for the host whose functions call the runner.
//
// Thread-safety: any thread; as each function's comment in the tables.
// Lifetime:      until the plugin's destroy() has returned.
// Errors:        a call without an answer of the runner fails with the Caller's Status in bp_error.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "backplane/core/status.hpp"
#include "runner/crossing.hpp"
#include "runner/functions.hpp"
#include "stable/call_threads.hpp"

namespace backplane::runner {

struct Proxy;

// Makes the calls.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual Result<std::string> call(Function function, const Proxy& target, std::string arguments) = 0;
};

// One registered table.
struct Proxy {
  Proxy(Caller& its_caller, std::uint32_t its_id, std::string its_name) : caller(its_caller), id(its_id), name(std::move(its_name)) {}
  Caller& caller;
  const std::uint32_t id;  // the runner's number of the table
  const std::string name;
  // The plugin was registered without BP_BLOCKING: it must not call the server, although the host calls it on a thread that may wait.
  bool quick = false;
  // For a watch: the queue of its controller.
  std::atomic<bp_queue*> queue{nullptr};
  Proxy* controller = nullptr;
  bp_informer* informer = nullptr;
  std::mutex events;  // of a controller: event() is called for one event after another
  // The state that a new process receives again: the configuration of an admission rule, and whether a post-start hook has run.
  std::mutex mutex;
  std::optional<std::string> config;
  std::atomic<bool> has_run{false};
};

// The request and the exchange of this thread's call of the runner, for the nested calls that the runner makes.
struct CallSubject {
  bp_request* request = nullptr;
  bp_exchange* exchange = nullptr;
};
CallSubject& call_subject() noexcept;

// ---- parts of call_back(), for each kind of argument

template <class T>
void note(Proxy&, CallSubject&, T) {}
inline void note(Proxy&, CallSubject& subject, const bp_write* write) { subject.request = write->request; }
inline void note(Proxy&, CallSubject& subject, bp_exchange* exchange) { subject.exchange = exchange; }
inline void note(Proxy& proxy, CallSubject&, bp_queue* queue) {
  Proxy& controller = proxy.controller != nullptr ? *proxy.controller : proxy;
  controller.queue.store(queue);
}
template <class T>
void note_failure(const Status&, T) {}
inline void note_failure(const Status& status, bp_error* error) { stable::fail(error, status); }

class SubjectScope {
 public:
  SubjectScope() noexcept : before_(call_subject()) { call_subject() = {}; }
  ~SubjectScope() { call_subject() = before_; }
  SubjectScope(const SubjectScope&) = delete;
  SubjectScope& operator=(const SubjectScope&) = delete;

 private:
  const CallSubject before_;
};

inline Status unreadable_answer() { return internal_error("the runner process has sent an answer that cannot be read"); }

// The function in the host's table that replaces the plugin's function; `self` is the Proxy.
template <Function kFunction, class... Arguments>
int32_t call_back(void* self, Arguments... arguments) {
  auto& proxy = *static_cast<Proxy*>(self);
  Writer out;
  (Parameter<Arguments>::send(out, arguments), ...);
  const SubjectScope scope;
  (note(proxy, call_subject(), arguments), ...);
  const stable::CallScope place(proxy.quick ? stable::CallPlace::kRequest : stable::call_place());
  const auto answer = proxy.caller.call(kFunction, proxy, out.take());
  if (!answer.ok()) {
    (note_failure(answer.status(), arguments), ...);
    return -1;
  }
  Reader in(*answer);
  int32_t result = -1;
  take(in, result);
  (Parameter<Arguments>::fill(in, arguments), ...);
  if (in.complete()) return result;
  (note_failure(unreadable_answer(), arguments), ...);
  return -1;
}

// Sets a function of a table, if the plugin has it.
template <Function kFunction, class Table, class... Arguments>
void set_call(Table& table, int32_t (*Table::*member)(void*, Arguments...), bool has) {
  table.*member = has ? &call_back<kFunction, Arguments...> : nullptr;
}

// ---- tables

// Bits for the functions that a kind or an admission rule has.
inline constexpr unsigned kHasDefaults = 1, kHasCheck = 2, kHasCheckChange = 4, kHasCheckStatus = 8, kHasConvert = 16;
inline constexpr unsigned kHasConfigure = 1, kHasAdmit = 2, kHasValidate = 4;

bp_kind kind_of(Proxy& proxy, unsigned has);
bp_admission admission_of(Proxy& proxy, unsigned has);
bp_authenticator authenticator_of(Proxy& proxy);
bp_authorizer authorizer_of(Proxy& proxy);
// With its settings from `given`.
bp_audit_sink audit_sink_of(Proxy& proxy, const bp_audit_sink& given, bool has_flush);
bp_path path_of(Proxy& proxy);
bp_hook hook_of(Proxy& proxy);
bp_check check_of(Proxy& proxy);
bp_controller controller_of(Proxy& proxy);
bp_watch watch_of(Proxy& proxy, bool has_event);

}  // namespace backplane::runner

// Tables that the host uses in place of the tables that a plugin in a runner process has registered. Their functions call the runner
// process.
//
// Thread-safety: as the comment of each function in the tables of the stable tier requires.
// Lifetime:      a Proxy must live until the plugin's destroy() has returned.
// Errors:        if the runner process does not answer, the function fails, with the Status of Caller::call() in its bp_error.
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

// Sends calls to the runner process; class Runner implements it.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual Result<std::string> call(Function function, const Proxy& target, std::string arguments) = 0;
};

// What the host keeps for one table that the plugin has registered.
struct Proxy {
  Proxy(Caller& its_caller, std::uint32_t its_id, std::string its_name) : caller(its_caller), id(its_id), name(std::move(its_name)) {}
  Caller& caller;
  const std::uint32_t id;  // the number of the table in the runner process
  const std::string name;
  // Whether the plugin registered the table without BP_BLOCKING. Its functions must then not call the server, although the host calls them
  // on a thread that may wait.
  bool quick = false;
  // For controllers and watches. `queue`: set in the Proxy of the controller. The other two are set in the Proxy of a watch.
  std::atomic<bp_queue*> queue{nullptr};
  Proxy* controller = nullptr;
  bp_informer* informer = nullptr;
  std::mutex events;  // of a controller: locked during event(), so that its events come one after another
  // What a later process must receive again: the configuration of an admission rule, and whether the post-start hook has run. `mutex`
  // guards `config`.
  std::mutex mutex;
  std::optional<std::string> config;
  std::atomic<bool> has_run{false};
};

// The request and the HTTP exchange of the call that waits on this thread for the runner process. Nested calls of the process refer to
// them.
struct CallSubject {
  bp_request* request = nullptr;
  bp_exchange* exchange = nullptr;
};
CallSubject& call_subject() noexcept;

// ---- parts of call_back(), by the type of the argument

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

// The function that the host's table has in place of the plugin's function `kFunction`. `self` is the Proxy.
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

// Sets a function of a table if the plugin has registered that function.
template <Function kFunction, class Table, class... Arguments>
void set_call(Table& table, int32_t (*Table::*member)(void*, Arguments...), bool has) {
  table.*member = has ? &call_back<kFunction, Arguments...> : nullptr;
}

// ---- tables

// Bits of `has` below: the functions that a kind has (first line) or an admission rule has (second line).
inline constexpr unsigned kHasDefaults = 1, kHasCheck = 2, kHasCheckChange = 4, kHasCheckStatus = 8, kHasConvert = 16;
inline constexpr unsigned kHasConfigure = 1, kHasAdmit = 2, kHasValidate = 4;

bp_kind kind_of(Proxy& proxy, unsigned has);
bp_admission admission_of(Proxy& proxy, unsigned has);
bp_authenticator authenticator_of(Proxy& proxy);
bp_authorizer authorizer_of(Proxy& proxy);
// Copies the settings of `given`.
bp_audit_sink audit_sink_of(Proxy& proxy, const bp_audit_sink& given, bool has_flush);
bp_path path_of(Proxy& proxy);
bp_hook hook_of(Proxy& proxy);
bp_check check_of(Proxy& proxy);
bp_controller controller_of(Proxy& proxy);
bp_watch watch_of(Proxy& proxy, bool has_event);

}  // namespace backplane::runner

// A plugin of the stable tier in a runner process: this side loads it, gives it tables whose functions call the host, and makes the calls
// of the host.
//
// Thread-safety: serve() by any thread; the calls of the lifecycle one after another, as the host makes them.
// Lifetime:      of the process, which has one of them.
// Errors:        kBadRequest for a call that cannot be read, or of a function that the plugin does not have; those of the plugin.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runner/channel.hpp"
#include "runner/crossing.hpp"
#include "runner/functions.hpp"

namespace backplane::runner {

// Notifications about calls into the plugin, for the record of a crash.
struct ChildEvents {
  std::function<void(const void* entry)> mapped;
  // `call` of the lifecycle begins; the object that is returned lives as long as the call.
  std::function<std::shared_ptr<void>(const char* call)> lifecycle;
  // This thread begins another call into the plugin; null: the call has returned.
  void (*running)(const char* call) noexcept = [](const char*) noexcept {};
};

class Child {
 public:
  // `socket`: ownership passes to this object. `file`: the plugin's.
  Child(int socket, std::string file, ChildEvents events);
  ~Child();
  // Serves calls until the host has closed the socket.
  void run();

  static Child& instance();
  // Calls the host and blocks until the response; an unanswered call fails after a time that exceeds the host's deadlines.
  Result<std::string> call(Function function, std::string arguments);
  // Calls of the host's functions; a failed one is in `error`, which may be null.
  bool call(Function function, Writer& arguments, std::string& answer, bp_error* error);

  // ---- provision(): ids are those of the order of registration
  using Target = std::variant<bp_kind, bp_admission, bp_authenticator, bp_authorizer, bp_audit_sink, bp_path, bp_hook, bp_check,
                              bp_controller, bp_watch>;
  std::uint32_t add(Target target);
  // A queue has the id of its controller, an informer has a number.
  bp_queue* queue_of(std::uint32_t controller);
  static std::uint32_t id_of(const bp_queue* queue);
  bp_informer* informer_of(std::uint32_t number);
  static std::uint32_t id_of(const bp_informer* informer);
  void set_controller(std::uint32_t watch, std::uint32_t controller) { controllers_[watch] = controller; }

 private:
  using Serve = std::string (*)(Child& child, std::uint32_t id, const Target& target, Reader& in);
  static Serve serving(Function function);
  Result<std::string> serve(Function function, std::string_view payload);
  Result<std::string> serve_lifecycle(Function function, Reader& in);
  std::string load();

  std::mutex ended_mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  const std::string file_;
  const ChildEvents events_;
  bp_plugin plugin_{};
  bp_host host_{};
  // Filled in provision(), read afterwards.
  std::deque<Target> targets_;
  std::map<std::uint32_t, std::uint32_t> controllers_;  // by watch
  std::mutex handles_mutex_;
  std::map<std::uint32_t, std::unique_ptr<std::uint32_t>> queues_, informers_;
  Channel channel_;
};

// The table that a plugin in this process gets in provision().
bp_host child_host_table();
// visit() for a page of the call of each() that waits on this thread.
std::string visit_page(Reader& in);

}  // namespace backplane::runner

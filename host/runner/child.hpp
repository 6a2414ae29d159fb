// The side of the runner process: loads a plugin of the stable tier, provides tables whose functions call the host, and executes the
// host's calls of the plugin.
//
// Thread-safety: call(), queue_of() and informer_of() by any thread. The host makes the lifecycle calls one after another.
// Lifetime:      one object for each process, until the process ends.
// Errors:        of a served call: kBadRequest if it cannot be read, or if the plugin does not have the function. An error of the plugin is
//                part of the answer.
//                call(): see channel.hpp.
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

// Functions that Child calls around its calls of the plugin, so that a crash record can name the call.
struct ChildEvents {
  // The plugin's file is mapped; `entry` is its entry point.
  std::function<void(const void* entry)> mapped;
  // The lifecycle call `call` begins. The returned object lives as long as the call.
  std::function<std::shared_ptr<void>(const char* call)> lifecycle;
  // This thread begins a call of the plugin that is not a lifecycle call. Null: that call has returned.
  void (*running)(const char* call) noexcept = [](const char*) noexcept {};
};

class Child {
 public:
  // Takes ownership of `socket`. `file`: the path of the plugin.
  Child(int socket, std::string file, ChildEvents events);
  ~Child();
  // Serves calls until the host has closed the socket.
  void run();

  static Child& instance();
  // Calls the host and waits for the answer. The time limit is longer than those of the host.
  Result<std::string> call(Function function, std::string arguments);
  // Calls a function of the host. Returns false if the call fails; the error is then in `error`, which may be null.
  bool call(Function function, Writer& arguments, std::string& answer, bp_error* error);

  // ---- registrations in provision(). The ids are 0, 1, 2 and so on, in the order of registration.
  using Target = std::variant<bp_kind, bp_admission, bp_authenticator, bp_authorizer, bp_audit_sink, bp_path, bp_hook, bp_check,
                              bp_controller, bp_watch>;
  std::uint32_t add(Target target);
  // A queue is identified by the id of its controller, an informer by the number that the host has returned.
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
  // Written in provision() only.
  std::deque<Target> targets_;
  std::map<std::uint32_t, std::uint32_t> controllers_;  // from the id of a watch to the id of its controller
  std::mutex handles_mutex_;
  std::map<std::uint32_t, std::unique_ptr<std::uint32_t>> queues_, informers_;
  Channel channel_;
};

// The table that provision() of the plugin in this process gets.
bp_host child_host_table();
// Executes a call of kVisit: passes a page of objects to the visit() function of the each() call that waits on this thread.
std::string visit_page(Reader& in);

}  // namespace backplane::runner

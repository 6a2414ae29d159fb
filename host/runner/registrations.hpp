// The host's side of the calls that a runner process makes: it registers what the plugin registers, and calls the functions of the host's
// tables for the process. A later process of the same plugin makes the registrations again. They are only compared with those of the first
// process, so nothing is registered twice.
//
// Thread-safety: begin(), begin_again() and end() by one thread while no plugin code runs; serve() by any thread.
// Lifetime:      proxies live as long as this object.
// Errors:        kBadRequest for calls that cannot be read or that name an object that is not registered; kConflict for a process whose
//                registrations differ from those of the first one.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runner/proxy.hpp"

namespace backplane::runner {

class Registrations {
 public:
  explicit Registrations(Caller& caller) : caller_(caller) {}

  // Call it before provision() of the first process.
  void begin(const bp_host& host);
  // Call it before provision() of each later process.
  void begin_again();
  // Call it after provision(). Returns whether a later process has registered everything that the first one has.
  bool end();
  Result<std::string> serve(Function function, std::string_view arguments);

  // All proxies, in the order of registration.
  std::deque<Proxy>& proxies() noexcept { return proxies_; }
  // Passes all objects of the informers to the started controllers: calls event() with BP_ADDED, or adds the key to the queue if the watch
  // has no event().
  void notify_controllers() const;

 private:
  struct Made {
    Function function;
    std::string arguments, answer;
  };
  struct Watched {
    Proxy* proxy;
    bool has_event;
  };
  using Register = int32_t (Registrations::*)(Reader& in, Writer& out, bp_error* error);
  using Serve = Status (Registrations::*)(Function function, Reader& in, Writer& out);
  static Register registering(Function function);
  static Serve serving(Function function);

  Result<std::string> register_once(Function function, Register work, std::string_view arguments);
  template <class Table>
  const Table& host_table(const char* name) const {
    return *static_cast<const Table*>(host_->table(host_->context, stable::str(name), 1));
  }
  Proxy& add_proxy(Reader& in, std::string name);
  Proxy* proxy_of(std::uint32_t id);
  bp_informer* informer_of(std::uint32_t id) const;

  int32_t install(Reader& in, Writer& out, bp_error* error);
  int32_t add_authenticator(Reader& in, Writer& out, bp_error* error);
  int32_t add_authorizer(Reader& in, Writer& out, bp_error* error);
  int32_t add_admission(Reader& in, Writer& out, bp_error* error);
  int32_t add_path(Reader& in, Writer& out, bp_error* error);
  int32_t add_post_start(Reader& in, Writer& out, bp_error* error);
  int32_t add_pre_shutdown(Reader& in, Writer& out, bp_error* error);
  int32_t add_check(Reader& in, Writer& out, bp_error* error);
  int32_t add_audit_sink(Reader& in, Writer& out, bp_error* error);
  int32_t add_informer(Reader& in, Writer& out, bp_error* error);
  int32_t add_controller(Reader& in, Writer& out, bp_error* error);

  Status use_host(Function function, Reader& in, Writer& out);
  Status use_request(Function function, Reader& in, Writer& out);
  Status use_client(Function function, Reader& in, Writer& out);
  Status use_informer(Function function, Reader& in, Writer& out);
  Status use_queue(Function function, Reader& in, Writer& out);
  int32_t visit_all(bp_informer* informer);

  Caller& caller_;
  const bp_host* host_ = nullptr;
  std::deque<Proxy> proxies_;
  std::vector<bp_informer*> informers_;
  std::vector<Watched> watches_;
  std::vector<Made> made_;
  std::size_t repeated_ = 0;
  std::atomic<bool> open_{false};  // whether a process is in provision()
};

}  // namespace backplane::runner

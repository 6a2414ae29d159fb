// The server in its states. Each is the only way to the next, and is consumed by the transition to the next:
//
//   Config ── Server::create ──► Server ── prepare_run ──► PreparedServer ── run ──► exit code
//
//   Server          plugins are loaded and committed, the store is open, the port is bound; nothing is served
//   PreparedServer  the routes are composed; hooks and health checks are installed, and no more can be added
//
// Thread-safety: main thread.
// Lifetime:      a state that is destroyed before the transition to the next state undoes everything, in reverse order.
// Errors:        create() and prepare_run(): one sentence that names what cannot be used and why.
#pragma once

#include <memory>

#include "app/options.hpp"
#include "app/stop_event.hpp"

namespace backplane {

struct ServerParts;

// Deletes a ServerParts, whose definition this header does not have. Defined in server.cpp.
struct ServerPartsDeleter {
  void operator()(ServerParts* parts) const noexcept;
};
using ServerPartsPtr = std::unique_ptr<ServerParts, ServerPartsDeleter>;

class PreparedServer {
 public:
  PreparedServer() = default;  // for Result
  // Serves until `stop` is requested, drains, and takes everything down.  Returns the exit code: 0 after an ordinary stop.
  static Result<int> run(PreparedServer server);
  ServerParts& parts_for_test() const noexcept { return *parts_; }

 private:
  friend class Server;
  explicit PreparedServer(ServerPartsPtr parts) : parts_(std::move(parts)) {}
  ServerPartsPtr parts_;
};

class Server {
 public:
  Server() = default;  // for Result
  static Result<Server> create(Config config, StopEvent& stop);
  static Result<PreparedServer> prepare_run(Server server);

 private:
  explicit Server(ServerPartsPtr parts) : parts_(std::move(parts)) {}
  ServerPartsPtr parts_;
};

}  // namespace backplane

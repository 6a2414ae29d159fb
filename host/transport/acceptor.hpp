// Acceptor accepts connections of a listening socket and passes them to `on_accept`.
//
// Thread-safety: start() and stop() may be called from any thread. `on_accept` runs on the loop.
// Lifetime:      pending waits on the socket share the Acceptor.
// Errors:        if accept() fails because of a lack of descriptors or memory, the Acceptor waits and tries again. If the listening socket
//                itself fails, the process aborts. An error of one connection is logged and does not affect other connections.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/io_loop.hpp"
#include "transport/server_loop.hpp"

namespace backplane {

class Acceptor final : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(IoLoop& loop, FileDescriptor listening, std::function<void(AcceptedSocket)> on_accept);
  void start();
  // Accepts the connections that the kernel has completed, then closes the listening socket. `done` runs on the loop.
  void stop(std::function<void()> done);

 private:
  void arm();
  // Accepts all pending connections. Returns false if the Acceptor must pause.
  bool accept_ready();
  void assign_to_loop(FileDescriptor fd, const sockaddr_storage& remote);

  IoLoop& loop_;
  const std::string address_;
  boost::asio::posix::stream_descriptor socket_;
  std::function<void(AcceptedSocket)> on_accept_;
  bool starved_ = false;  // accept() has failed; the failure is logged once, until a connection is accepted again
};

}  // namespace backplane

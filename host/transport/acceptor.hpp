// Accepts connections of a listening socket and passes them to `on_accept`.
//
// Thread-safety: start() and stop() from any thread; `on_accept` runs on the loop.
// Lifetime:      shared with the waits on the socket.
// Errors:        when the process has no descriptors left it waits and tries again; a listening socket that fails ends the process; other
//                failures concern one connection only.
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
  // Accepts the connections that are complete in the kernel, then closes the socket; `done` runs on the loop.
  void stop(std::function<void()> done);

 private:
  void arm();
  // False when accepting must pause.
  bool accept_ready();
  void hand_on(FileDescriptor fd, const sockaddr_storage& remote);

  IoLoop& loop_;
  const std::string address_;
  boost::asio::posix::stream_descriptor socket_;
  std::function<void(AcceptedSocket)> on_accept_;
  bool starved_ = false;  // of descriptors: logged once, until one is accepted again
};

}  // namespace backplane

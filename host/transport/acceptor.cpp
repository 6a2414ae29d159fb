#include "transport/acceptor.hpp"

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/caught.hpp"
#include "transport/log.hpp"

namespace backplane {
namespace {
namespace asio = boost::asio;
constexpr std::chrono::milliseconds kPause{100};

// Returns true for errors of the listening socket itself, after which it accepts no more connections.
bool ends_listening(int error) { return error == EBADF || error == EINVAL || error == ENOTSOCK || error == EOPNOTSUPP; }

// Like upstream, the server exits if clients can no longer connect to it.
[[noreturn]] void stopped_listening(const std::string& address, const std::string& error) {
  transport_log().error("Stopped listening on {} due to error: {}", address, error);
  flush_logs();
  std::abort();
}

std::string address_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? address_with_port(address) : std::string();
}
}  // namespace

Acceptor::Acceptor(IoLoop& loop, FileDescriptor listening, std::function<void(AcceptedSocket)> on_accept)
    : loop_(loop), address_(address_of(listening.get())), socket_(loop.context(), listening.release()), on_accept_(std::move(on_accept)) {}

void Acceptor::start() {
  asio::post(loop_.context(), [self = shared_from_this()] { self->arm(); });
}

void Acceptor::stop(std::function<void()> done) {
  asio::post(loop_.context(), [self = shared_from_this(), done = std::move(done)] {
    if (self->socket_.is_open()) {
      self->accept_ready();
      boost::system::error_code ignored;
      self->socket_.close(ignored);
    }
    if (done) done();
  });
}

void Acceptor::arm() {
  if (!socket_.is_open()) return;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](boost::system::error_code error) {
    if (error == asio::error::operation_aborted) return;
    if (error) stopped_listening(self->address_, error.message());
    if (self->accept_ready()) return self->arm();
    self->loop_.after(kPause, [self] { self->arm(); });
  });
}

bool Acceptor::accept_ready() {
  for (;;) {
    sockaddr_storage remote{};
    socklen_t size = sizeof remote;
    FileDescriptor fd(::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&remote), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      if (ends_listening(errno)) stopped_listening(address_, std::strerror(errno));
      if (!std::exchange(starved_, true)) transport_log().warn("accepting connections failed, retrying error={}", std::strerror(errno));
      return false;
    }
    starved_ = false;
    try {
      assign_to_loop(std::move(fd), remote);
    } catch (...) {
      transport_log().warn("accepting a connection failed error={:?}", caught().what);
    }
  }
}

void Acceptor::assign_to_loop(FileDescriptor fd, const sockaddr_storage& remote) {
  AcceptedSocket accepted;
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &size);
  accepted.family = local.ss_family;
  accepted.remote_address = address_with_port(remote);
  accepted.local_address = address_without_port(local);
  accepted.fd = std::move(fd);
  on_accept_(std::move(accepted));
}

}  // namespace backplane

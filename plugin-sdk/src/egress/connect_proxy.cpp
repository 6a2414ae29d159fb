#include "egress/connect_proxy.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "backplane/turns.hpp"

namespace backplane::egress {
namespace {

constexpr int kPatienceMs = 30'000;
constexpr std::size_t kMostHeadBytes = 64 << 10;

class Socket {
 public:
  explicit Socket(int fd) noexcept : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}
std::string words_of(int error) { return lower(std::generic_category().message(error)); }

// 0: the socket is ready.
int wait_ready(int fd, short what) {
  pollfd one{fd, what, 0};
  const int ready = poll(&one, 1, kPatienceMs);
  return ready > 0 ? 0 : ready == 0 ? ETIMEDOUT : errno;
}

int connect_to(int fd, const sockaddr* address, socklen_t size) {
  if (connect(fd, address, size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (const int error = wait_ready(fd, POLLOUT); error != 0) return error;
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int open_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

Result<int> dial_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return service_unavailable("dial unix " + path + ": connect: invalid argument");
  std::memcpy(address.sun_path, path.data(), path.size());
  Socket socket(open_socket(AF_UNIX));
  const int error = connect_to(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (error != 0) return service_unavailable("dial unix " + path + ": connect: " + words_of(error));
  return socket.release();
}

Result<int> dial_tcp(const ProxyAddress& proxy) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(proxy.host.c_str(), proxy.port.c_str(), &hints, &found) != 0) {
    return service_unavailable("dial tcp: lookup " + proxy.host + ": no such host");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  int error = EHOSTUNREACH;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Socket socket(open_socket(each->ai_family));
    error = socket.get() < 0 ? errno : connect_to(socket.get(), each->ai_addr, each->ai_addrlen);
    if (error == 0) return socket.release();
  }
  return service_unavailable("dial tcp " + proxy.text() + ": connect: " + words_of(error));
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN || wait_ready(fd, POLLOUT) != 0) {
      return false;
    }
  }
  return true;
}

// The head of the answer, and no byte behind it: what follows is the connection's.
std::string read_head(int fd) {
  std::string head;
  while (!head.ends_with("\r\n\r\n") && !head.ends_with("\n\n") && head.size() < kMostHeadBytes) {
    char c = 0;
    const ssize_t got = recv(fd, &c, 1, 0);
    if (got == 1) {
      head += c;
    } else if (got == 0 || errno != EAGAIN || wait_ready(fd, POLLIN) != 0) {
      return {};
    }
  }
  return head.size() < kMostHeadBytes ? head : std::string();
}

Result<int> dial(const ProxyAddress& proxy, const std::string& address) {
  auto dialed = proxy.path.empty() ? dial_tcp(proxy) : dial_unix(proxy.path);
  if (!dialed.ok()) return dialed;
  Socket socket(*dialed);
  const bool asked = send_all(socket.get(), "CONNECT " + address + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  const std::string head = asked ? read_head(socket.get()) : std::string();
  // "HTTP/1.1 200 OK"
  const auto space = head.find(' ');
  const std::string status = space == std::string::npos ? std::string() : head.substr(space + 1, head.find_first_of("\r\n") - space - 1);
  if (!head.starts_with("HTTP/1.") || status.size() < 3) {
    return service_unavailable("reading HTTP response from CONNECT to " + address + " via proxy " + proxy.text() +
                               " failed: unexpected EOF");
  }
  if (status.substr(0, 3) == "200") return socket.release();
  return service_unavailable("proxy error from " + proxy.text() + " while dialing " + address + ", code " + status.substr(0, 3) + ": " +
                             status);
}

Turns& turns() {
  static Turns all(kMostDials);
  return all;
}

// Outlives a caller who has given up; then nobody takes the socket.
struct Outcome {
  ~Outcome() {
    if (fd.ok() && *fd >= 0) close(*fd);
  }
  Result<int> fd = -1;
  int take() { return std::exchange(*fd, -1); }
};

// On a thread of its own: a proxy that hangs must hold up nobody else.
Task<Result<int>> dial_apart(std::shared_ptr<const ProxyAddress> proxy, std::string address) {
  Turns::Turn turn = co_await turns().take();
  const auto outcome = std::make_shared<Outcome>();
  Promise<bool> done;
  std::thread([proxy, address, outcome, done] {
    outcome->fd = dial(*proxy, address);
    done.set(true);
  }).detach();
  const bool told = co_await done.future();
  (void)told;
  if (!outcome->fd.ok()) co_return std::move(outcome->fd).status();
  co_return outcome->take();
}

}  // namespace

DialFunction connect_through(ProxyAddress proxy) {
  return [shared = std::make_shared<const ProxyAddress>(std::move(proxy))](std::string address) {
    return dial_apart(shared, std::move(address));
  };
}

}  // namespace backplane::egress

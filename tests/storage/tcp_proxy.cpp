#include "tcp_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace backplane {
namespace {

constexpr int kPollMs = 10;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, kPollMs) > 0;
}

bool send_all(int fd, const char* data, ssize_t size) {
  for (ssize_t sent = 0; sent < size;) {
    const ssize_t count = send(fd, data + sent, static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += count;
  }
  return true;
}

}  // namespace

struct TcpProxy::Pair {
  int client = -1, server = -1;
  std::atomic<bool> over{false}, silent{false};
  void shut() {
    over.store(true);
    shutdown(client, SHUT_RDWR);
    shutdown(server, SHUT_RDWR);
  }
  ~Pair() {
    close(client);
    close(server);
  }
};

TcpProxy::TcpProxy(int to_port) : to_port_(to_port), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  listen(listener_, 64);
  acceptor_ = std::thread([this] { accept_all(); });
}

TcpProxy::~TcpProxy() {
  over_.store(true);
  acceptor_.join();
  cut(true);
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

void TcpProxy::accept_all() {
  while (!over_.load()) {
    if (!readable(listener_)) continue;
    auto pair = std::make_shared<Pair>();
    pair->client = accept(listener_, nullptr, nullptr);
    pair->server = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(to_port_);
    if (pair->client < 0 || refuse_.load() || connect(pair->server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      continue;
    const int one = 1;
    for (const int fd : {pair->client, pair->server}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    const std::lock_guard lock(mutex_);
    pairs_.push_back(pair);
    threads_.emplace_back([this, pair] { forward(pair, true); });
    threads_.emplace_back([this, pair] { forward(pair, false); });
  }
}

void TcpProxy::forward(std::shared_ptr<Pair> pair, bool to_server) {
  const int from = to_server ? pair->client : pair->server, to = to_server ? pair->server : pair->client;
  const auto& held = to_server ? hold_to_server_ : hold_to_client_;
  std::vector<char> buffer(64 * 1024);
  while (!pair->over.load()) {
    if (held.load() || pair->silent.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
      continue;
    }
    if (!readable(from)) continue;
    const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
    if (count <= 0) break;
    if (const int delay = delay_ms_.load(); delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    while ((held.load() || pair->silent.load()) && !pair->over.load()) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
    if (!send_all(to, buffer.data(), count)) break;
  }
  pair->shut();
}

void TcpProxy::silence() {
  const std::lock_guard lock(mutex_);
  for (const auto& pair : pairs_) pair->silent.store(true);
}

void TcpProxy::cut(bool refuse) {
  refuse_.store(refuse);
  const std::lock_guard lock(mutex_);
  for (const auto& pair : pairs_) pair->shut();
  pairs_.clear();
}

std::size_t TcpProxy::connections() const {
  const std::lock_guard lock(mutex_);
  return pairs_.size();
}

}  // namespace backplane

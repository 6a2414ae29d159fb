// A backend for tests. It sends the bytes of a test's script, which need not be HTTP, over plain TCP.
//
// Thread-safety: RawBackend has one thread for each connection. A connection's script uses its RawPeer on this thread. The methods of
//                RawBackend may be called on any thread.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace backplane::test {

// One accepted connection.
class RawPeer {
 public:
  RawPeer(int fd, const std::atomic<bool>& stopping) : fd_(fd), stopping_(stopping) {}
  // Reads a request head and its blank line. The result is empty if the peer has closed the connection.
  std::string read_head() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      char byte = 0;
      if (recv(fd_, &byte, 1, 0) != 1) return {};
      head += byte;
    }
    return head;
  }
  std::string read(std::size_t size) {
    std::string out(size, '\0');
    std::size_t got = 0;
    while (got < size) {
      const ssize_t count = recv(fd_, out.data() + got, size - got, 0);
      if (count <= 0) break;
      got += static_cast<std::size_t>(count);
    }
    out.resize(got);
    return out;
  }
  // False: the peer has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty() && !stopping_) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return !stopping_;
  }
  // Waits until the peer closes the connection or the test ends.
  void wait_closed() {
    while (!read(1).empty()) {
    }
  }
  void hang_up() { shutdown(fd_, SHUT_RDWR); }
  std::size_t sent = 0;

 private:
  const int fd_;
  const std::atomic<bool>& stopping_;
};

class RawBackend {
 public:
  using Script = std::function<void(RawPeer& peer, const std::string& head)>;
  explicit RawBackend(Script script) : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~RawBackend() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
    close(listener_);
  }
  std::string url() const { return "http://" + address(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string last_head() const {
    const std::lock_guard lock(mutex_);
    return heads_.empty() ? std::string() : heads_.back();
  }
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  // Waits until `count` connections have ended. A connection ends when the peer closes it, or after the script of an upgrade.
  void wait_ended(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ >= count; });
  }

 private:
  void accept_all() {
    for (;;) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      ++accepted_;
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    RawPeer peer(fd, stopping_);
    for (std::string head = peer.read_head(); !head.empty(); head = peer.read_head()) {
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      peer.sent = 0;
      script_(peer, head);
      if (head.find("Connection: Upgrade") != std::string::npos) break;
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    close(fd);
    ++ended_;
    changed_.notify_all();
  }

  const Script script_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> heads_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::size_t accepted_ = 0;
  std::size_t ended_ = 0;
};

// Returns a script that responds to every request with the same bytes.
inline RawBackend::Script says(std::string bytes) {
  return [bytes = std::move(bytes)](RawPeer& peer, const std::string&) { peer.send(bytes); };
}

}  // namespace backplane::test

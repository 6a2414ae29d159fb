// For tests of clients: a TCP proxy to a server, which can close connections, delay bytes, or hold them back in one or both directions.
//
// Thread-safety: any thread.
// Lifetime:      connections end with the object.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace backplane {

class TcpProxy {
 public:
  explicit TcpProxy(int to_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Sets for each direction whether bytes are held back; connections stay open.
  void hold(bool to_server, bool to_client) {
    hold_to_server_.store(to_server);
    hold_to_client_.store(to_client);
  }
  // Forwards no more bytes on existing connections, regardless of later hold() calls, so that clients must abandon them.
  void silence();
  // Sets the delay of each piece of bytes.
  void slow(std::chrono::milliseconds delay) { delay_ms_.store(static_cast<int>(delay.count())); }
  // Closes all connections. `refuse`: also closes new connections immediately, until cut(false).
  void cut(bool refuse);
  std::size_t connections() const;

 private:
  struct Pair;
  void accept_all();
  void forward(std::shared_ptr<Pair> pair, bool to_server);

  const int to_port_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> hold_to_server_{false}, hold_to_client_{false}, refuse_{false}, over_{false};
  std::atomic<int> delay_ms_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Pair>> pairs_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace backplane

// For tests: a server that says over HTTP/2 what a test has it say, byte for byte, and tells what it heard.
//
// Thread-safety: one thread.
// Errors:        what does not come within seconds is a failed expectation, and an empty frame.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unused_port.hpp"

namespace backplane::etcd {

// Frames as HTTP/2 has them.
struct Frame {
  static constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kWindow = 8;
  static constexpr std::uint8_t kEnd = 1, kAck = 1, kEndHeaders = 4;

  std::uint8_t type = 0xff, flags = 0;
  std::uint32_t stream = 0;
  std::string payload;

  static std::string number(std::uint32_t value, int bytes = 4) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
    return out;
  }
  std::string bytes() const {
    std::string out = number(static_cast<std::uint32_t>(payload.size()), 3);
    out += static_cast<char>(type);
    out += static_cast<char>(flags);
    return out + number(stream) + payload;
  }
  using Fields = std::vector<std::pair<std::string, std::string>>;
  // Each field in full; none is remembered.
  static std::string headers(std::uint32_t stream, const Fields& fields, bool last = false) {
    std::string block;
    for (const auto& [name, value] : fields) {
      block += '\0';
      block += static_cast<char>(name.size());
      block += name;
      block += static_cast<char>(value.size());
      block += value;
    }
    return Frame{kHeaders, static_cast<std::uint8_t>(kEndHeaders | (last ? kEnd : 0)), stream, block}.bytes();
  }
  static std::string begin(std::uint32_t stream) { return headers(stream, {{":status", "200"}, {"content-type", "application/grpc"}}); }
  static std::string end(std::uint32_t stream, const std::string& status = "0", const std::string& message = "") {
    return headers(stream, {{"grpc-status", status}, {"grpc-message", message}}, true);
  }
  static std::string data(std::uint32_t stream, const std::string& bytes, bool last = false) {
    return Frame{kData, static_cast<std::uint8_t>(last ? kEnd : 0), stream, bytes}.bytes();
  }
  static std::string message(const std::string& bytes) {
    return std::string(1, '\0') + number(static_cast<std::uint32_t>(bytes.size())) + bytes;
  }
  static std::string settings() { return Frame{kSettings, 0, 0, ""}.bytes(); }
  static std::string go_away(std::uint32_t last, std::uint32_t error = 0) {
    return Frame{kGoAway, 0, 0, number(last) + number(error)}.bytes();
  }
  static std::string reset(std::uint32_t stream, std::uint32_t error) { return Frame{kReset, 0, stream, number(error)}.bytes(); }
};

class ScriptedServer {
 public:
  ScriptedServer() : port_(unused_port()) { come(); }
  ~ScriptedServer() {
    hang_up();
    close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  // Connections are refused until it comes, to the port that it had.
  void go_away() {
    hang_up();
    close(std::exchange(listener_, -1));
  }
  void come() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_TRUE(binds(listener_, port_));
    EXPECT_EQ(listen(listener_, 8), 0);
    be_patient(listener_);
  }
  // Takes the next connection; the one before it stays open, and is forgotten at the end.
  void take() {
    const int taken = accept(listener_, nullptr, nullptr);
    ASSERT_GE(taken, 0) << "nobody connects";
    be_patient(taken);
    connections_.push_back(taken);
  }
  // The same, and what HTTP/2 begins with on both sides.
  void take_http2() {
    take();
    if (connections_.empty()) return;
    EXPECT_EQ(read(24), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    say(Frame::settings() + Frame{Frame::kSettings, Frame::kAck, 0, ""}.bytes());
  }
  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send(connections_.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void hang_up() {
    for (const int each : std::exchange(connections_, {})) close(each);
  }
  // What has come, as it is; empty: nothing more will.
  std::string some() {
    std::string out(16'384, '\0');
    const ssize_t count = recv(connections_.back(), out.data(), out.size(), 0);
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return out;
  }
  Frame hear() {
    const std::string head = read(9);
    if (head.size() < 9) return {};
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(head[i])); };
    Frame out;
    out.type = static_cast<std::uint8_t>(at(3));
    out.flags = static_cast<std::uint8_t>(at(4));
    out.stream = at(5) << 24U | at(6) << 16U | at(7) << 8U | at(8);
    out.payload = read(at(0) << 16U | at(1) << 8U | at(2));
    return out;
  }
  // The next frame of this type; others before it are passed over.
  Frame hear(std::uint8_t type) {
    for (;;) {
      Frame frame = hear();
      if (frame.type == type || frame.type == 0xff) return frame;
    }
  }
  // The number of the stream of the next request.
  std::uint32_t request() { return hear(Frame::kHeaders).stream; }
  // Whether the other side ends the connection; what it says before is passed over.
  bool hears_the_end() {
    while (hear().type != 0xff) {
    }
    return over_;
  }

 private:
  static void be_patient(int socket) {
    const timeval limit{20, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  std::string read(std::size_t size) {
    std::string out(size, '\0');
    std::size_t had = 0;
    while (had < size) {
      const ssize_t count = recv(connections_.back(), out.data() + had, size - had, 0);
      over_ = count == 0;
      if (count <= 0) return "";
      had += static_cast<std::size_t>(count);
    }
    return out;
  }

  int listener_ = -1;
  int port_;
  std::vector<int> connections_;
  bool over_ = false;
};

}  // namespace backplane::etcd

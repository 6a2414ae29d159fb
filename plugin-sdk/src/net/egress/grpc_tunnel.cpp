#include "net/egress/grpc_tunnel.hpp"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <new>
#include <random>
#include <system_error>
#include <thread>

#include "net/egress/packets.hpp"
#include "net/egress/tls_tunnel.hpp"
#include "net/grpc/frames.hpp"

namespace backplane::egress {

// An HTTP/2 connection with one stream, and the socket of the caller whose bytes the stream carries.
class GrpcTunnel {
 public:
  explicit GrpcTunnel(Socket remote);
  GrpcTunnel(const GrpcTunnel&) = delete;
  GrpcTunnel& operator=(const GrpcTunnel&) = delete;
  ~GrpcTunnel() { nghttp2_session_del(session_); }

  // Sends the dial. Returns when the proxy server has responded to it.
  Status dial(const std::string& address);
  // Relays bytes until either side has closed and its data has been delivered.
  void relay(Socket local);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kPiece = 32 * 1024;
  static constexpr std::size_t kMostMessage = std::size_t{4} << 20;  // gRPC's limit for received messages
  static constexpr std::chrono::seconds kDialTimeout{30};            // for the response to a dial
  static constexpr std::chrono::seconds kCloseTimeout{10};           // for the response to a close

  static GrpcTunnel& self(void* data) { return *static_cast<GrpcTunnel*>(data); }
  static nghttp2_session_callbacks* callbacks();
  static ssize_t send_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                           nghttp2_data_source*, void* data);
  void send_packet(std::string packet);
  // Waits until one of the sockets is ready, and moves the available bytes. Returns false if `until` has passed.
  bool turn(Clock::time_point until);
  void write_remote();
  void read_remote();
  void write_local();
  void read_local();
  void take_packets();
  void take(Packet packet);
  bool is_over() const noexcept { return remote_gone_ || (closed_ && to_local_.empty()); }

  Socket remote_;
  Socket local_{-1};
  nghttp2_session* session_ = nullptr;
  std::int32_t stream_ = -1;
  std::string wire_;        // encoded bytes to send to the proxy server
  std::string body_;        // bytes of the stream that are not encoded yet
  std::string to_local_;    // bytes to send to the caller
  std::size_t unread_ = 0;  // received bytes of the stream that have not been returned to the flow-control window
  grpc::FrameReader frames_{kMostMessage};
  std::int64_t random_ = 0, connection_ = 0;
  bool answered_ = false;     // the proxy server has responded to the dial
  std::string refusal_;       // the error in the response to the dial
  bool closed_ = false;       // the proxy server sends no more data
  bool remote_gone_ = false;  // the connection to the proxy server has failed
  bool local_ended_ = false;  // the caller sends no more data
};

GrpcTunnel::GrpcTunnel(Socket remote) : remote_(std::move(remote)) {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) throw std::bad_alloc();
  nghttp2_option_set_no_auto_window_update(option, 1);
  const int made = nghttp2_session_client_new2(&session_, callbacks(), this, option);
  nghttp2_option_del(option);
  if (made != 0) throw std::bad_alloc();
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  const std::array<std::pair<std::string_view, std::string_view>, 7> fields = {{{":method", "POST"},
                                                                                {":scheme", "http"},
                                                                                {":path", "/ProxyService/Proxy"},
                                                                                {":authority", "localhost"},
                                                                                {"content-type", "application/grpc"},
                                                                                {"user-agent", "grpc-c++-backplane"},
                                                                                {"te", "trailers"}}};
  std::array<nghttp2_nv, fields.size()> head{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto bytes = [](std::string_view text) { return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data())); };
    head[i] = {bytes(fields[i].first), bytes(fields[i].second), fields[i].first.size(), fields[i].second.size(), NGHTTP2_NV_FLAG_NONE};
  }
  nghttp2_data_provider body{};
  body.read_callback = send_body;
  stream_ = nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &body, nullptr);
}

nghttp2_session_callbacks* GrpcTunnel::callbacks() {
  static nghttp2_session_callbacks* const all = [] {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes, std::size_t size, void* data) {
          self(data).unread_ += size;
          self(data).frames_.add(std::string(reinterpret_cast<const char*>(bytes), size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(made, [](nghttp2_session*, std::int32_t, std::uint32_t, void* data) {
      self(data).closed_ = true;
      return 0;
    });
    return made;
  }();
  return all;
}

ssize_t GrpcTunnel::send_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size, std::uint32_t*, nghttp2_data_source*,
                              void* data) {
  std::string& body = self(data).body_;
  if (body.empty()) return NGHTTP2_ERR_DEFERRED;
  const std::size_t taken = body.copy(reinterpret_cast<char*>(buffer), size);
  body.erase(0, taken);
  return static_cast<ssize_t>(taken);
}

void GrpcTunnel::send_packet(std::string packet) {
  grpc::append_frame(body_, packet);
  nghttp2_session_resume_data(session_, stream_);
}

Status GrpcTunnel::dial(const std::string& address) {
  std::random_device source;
  random_ = static_cast<std::int64_t>((static_cast<std::uint64_t>(source()) << 32 | source()) >> 1);
  send_packet(dial_request(address, random_));
  const Clock::time_point until = Clock::now() + kDialTimeout;
  while (!answered_ && !closed_ && !remote_gone_) {
    if (turn(until)) continue;
    send_packet(dial_close(random_));
    write_remote();
    return service_unavailable("dial timeout, backstop");
  }
  if (!answered_) return service_unavailable("tunnel closed");
  return refusal_.empty() ? Status() : service_unavailable(refusal_);
}

void GrpcTunnel::relay(Socket local) {
  local_ = std::move(local);
  Clock::time_point until = Clock::time_point::max();
  while (!is_over()) {
    if (local_ended_ && until == Clock::time_point::max()) {
      send_packet(close_request(connection_));
      until = Clock::now() + kCloseTimeout;
    }
    if (!turn(until)) return;
  }
}

bool GrpcTunnel::turn(Clock::time_point until) {
  write_remote();
  const bool reads_local = local_.get() >= 0 && !local_ended_ && body_.empty();
  std::array<pollfd, 2> both = {{{remote_.get(), 0, 0}, {local_.get(), 0, 0}}};
  if (!closed_) both[0].events |= POLLIN;
  if (!wire_.empty()) both[0].events |= POLLOUT;
  if (reads_local) both[1].events |= POLLIN;
  if (!to_local_.empty() && local_.get() >= 0) both[1].events |= POLLOUT;
  // A descriptor without events is set to -1, because otherwise a hang-up of that side would wake the thread.
  for (pollfd& each : both) each.fd = each.events == 0 ? -1 : each.fd;
  int timeout_ms = -1;
  if (until != Clock::time_point::max()) {
    timeout_ms = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count());
    if (timeout_ms <= 0) return false;
  }
  const int ready = poll(both.data(), both.size(), timeout_ms);
  if (ready == 0) return false;
  if (ready < 0 && errno != EINTR) remote_gone_ = true;
  if (ready <= 0) return true;
  if (both[0].revents != 0) read_remote();
  if (reads_local && (both[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_local();
  write_local();
  write_remote();
  return true;
}

void GrpcTunnel::write_remote() {
  while (!remote_gone_) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = wire_.size() < kPiece ? nghttp2_session_mem_send(session_, &bytes) : 0;
    if (size > 0) wire_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    if (size < 0) remote_gone_ = true;
    if (wire_.empty()) return;
    const ssize_t sent = send(remote_.get(), wire_.data(), wire_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0 && errno != EINTR) remote_gone_ = true;
    if (sent > 0) wire_.erase(0, static_cast<std::size_t>(sent));
  }
}

void GrpcTunnel::read_remote() {
  std::array<std::uint8_t, kPiece> bytes;
  const ssize_t got = recv(remote_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0 || nghttp2_session_mem_recv(session_, bytes.data(), static_cast<std::size_t>(got)) < 0) {
    closed_ = true;
    remote_gone_ = to_local_.empty();
    return;
  }
  take_packets();
}

void GrpcTunnel::take_packets() {
  while (auto message = frames_.take()) {
    auto packet = read_packet(*message);
    if (packet) take(std::move(*packet));
  }
  if (frames_.problem()) closed_ = true;
  // Bytes that the caller has not read remain in the flow-control window, so that the proxy server waits too.
  if (!to_local_.empty() || unread_ == 0) return;
  nghttp2_session_consume(session_, stream_, std::exchange(unread_, 0));
}

void GrpcTunnel::take(Packet packet) {
  switch (packet.type) {
    case PacketType::kDialResponse:
      if (packet.random != random_ || answered_) return;
      answered_ = true;
      refusal_ = std::move(packet.error);
      connection_ = packet.connection;
      return;
    case PacketType::kDialClose:
      if (!answered_) refusal_ = "dial closed";
      answered_ = closed_ = true;
      return;
    case PacketType::kData:
      if (packet.connection == connection_) to_local_.append(packet.data);
      return;
    case PacketType::kCloseResponse:
      if (packet.connection == connection_) closed_ = true;
      return;
    default:
      return;
  }
}

void GrpcTunnel::write_local() {
  if (to_local_.empty() || local_.get() < 0) return;
  const ssize_t sent = send(local_.get(), to_local_.data(), to_local_.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    local_ended_ = true;
    to_local_.clear();
  }
  if (sent > 0) to_local_.erase(0, static_cast<std::size_t>(sent));
  take_packets();
}

void GrpcTunnel::read_local() {
  std::array<char, kPiece> bytes;
  const ssize_t got = recv(local_.get(), bytes.data(), bytes.size(), 0);
  if (got > 0) return send_packet(data_packet(connection_, {bytes.data(), static_cast<std::size_t>(got)}));
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) local_ended_ = true;
}

std::shared_ptr<GrpcTunnel> open_tunnel(Socket socket) { return std::make_shared<GrpcTunnel>(std::move(socket)); }

Result<int> dial_through(const std::shared_ptr<GrpcTunnel>& tunnel, const std::string& address) {
  if (Status status = tunnel->dial(address); !status.ok()) return status;
  return relayed([tunnel](Socket local) { tunnel->relay(std::move(local)); });
}

}  // namespace backplane::egress

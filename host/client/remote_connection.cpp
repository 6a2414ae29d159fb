#include "client/remote_connection.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "client/remote_error_text.hpp"
#include "transport/sockets.hpp"

namespace backplane {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

// The number of reads or writes after which a connection lets other connections of the loop run.
constexpr int kRounds = 4;
// The largest output buffer that an idle connection retains.
constexpr std::size_t kKeptBuffer = 16 * 1024;
constexpr std::size_t kSendBudget = 256 * 1024;
constexpr std::chrono::seconds kKeepalive{30};
constexpr std::chrono::seconds kMostForHandshake{10};  // like TLSHandshakeTimeout of Go's net/http

// Buffers that all connections of a thread share, so that an idle connection needs memory for its TLS state only.
struct Scratch {
  std::array<char, 64 * 1024> bytes;
  std::array<char, 16 * 1024> plain;  // the maximum size of a TLS record
  std::string text;
};
Scratch& scratch() {
  static thread_local const std::unique_ptr<Scratch> own = std::make_unique<Scratch>();
  return *own;
}

Error last_error() { return Error(errno, boost::system::system_category()); }

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

// Like Go's net.JoinHostPort.
std::string join_host_port(const std::string& host, const std::string& port) {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}
std::string host_and_port(const RemoteAddress& address) { return join_host_port(address.host, address.port); }
std::string endpoint_text(const tcp::endpoint& endpoint) {
  return join_host_port(endpoint.address().to_string(), std::to_string(endpoint.port()));
}

}  // namespace

namespace {

Result<RemoteAddress> parse_unix_url(const std::string& server, std::string_view path) {
  if (!path.starts_with('/')) return bad_request("the server " + quoted(server) + " names no absolute path");
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return bad_request("the path of the server " + quoted(server) + " is too long");
  RemoteAddress out;
  out.plain = true;
  out.path = path;
  out.host = out.authority = "localhost";
  return out;
}

}  // namespace

Result<RemoteAddress> parse_server_url(const ClientConfig& config) {
  std::string_view rest = config.server;
  constexpr std::string_view kScheme = "https://", kPlain = "http://", kUnix = "unix://";
  if (rest.starts_with(kUnix)) return parse_unix_url(config.server, rest.substr(kUnix.size()));
  RemoteAddress out;
  out.plain = rest.starts_with(kPlain);
  if (!out.plain && !rest.starts_with(kScheme))
    return bad_request("the server " + quoted(config.server) + " is no URL of the scheme https, http or unix");
  rest.remove_prefix(out.plain ? kPlain.size() : kScheme.size());
  rest = rest.substr(0, rest.find('/'));
  out.authority = rest;
  const auto bracket = rest.find(']');
  const auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.port = colon == std::string_view::npos ? (out.plain ? "80" : "443") : std::string(rest.substr(colon + 1));
  out.host = rest.substr(0, colon);
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty() || out.port.empty()) return bad_request("the server " + quoted(config.server) + " has no host or port");
  if (!config.insecure_skip_tls_verify) out.server_name = config.tls_server_name.empty() ? out.host : config.tls_server_name;
  return out;
}

RemoteConnection::RemoteConnection(std::weak_ptr<Owner> owner, Place place, const ClientConfig& config, RemoteAddress address,
                                   SSL_CTX* context, bool alone)
    : owner_(std::move(owner)),
      loop_(place.loop),
      tasks_(place.tasks),
      config_(config),
      address_(std::move(address)),
      resolver_(loop_.context()),
      socket_(loop_.context()),
      alone_(alone) {
  if (!address_.plain) tls_.emplace(context);
}

RemoteConnection::~RemoteConnection() = default;

void RemoteConnection::open() {
  arm_timer(config_.connect_timeout, "dial tcp " + host_and_port(address_) + ": i/o timeout", false);
  if (!config_.dial) return address_.path.empty() ? resolve() : connect_unix();
  if (!tasks_.spawn(loop_, "dial", dial(shared_from_this()))) close(service_unavailable("the server is stopping"));
}

void RemoteConnection::resolve() {
  resolver_.async_resolve(address_.host, address_.port, [self = shared_from_this()](Error error, tcp::resolver::results_type found) {
    if (self->closed_) return;
    if (error) return self->close(service_unavailable("dial tcp: lookup " + self->address_.host + ": no such host"));
    const std::string first = found.empty() ? host_and_port(self->address_) : endpoint_text(found.begin()->endpoint());
    asio::async_connect(self->socket_, found, [self, first](Error failed, const tcp::endpoint&) {
      if (self->closed_) return;
      if (failed) return self->close(service_unavailable("dial tcp " + first + ": connect: " + system_error_text(failed)));
      self->connected();
    });
  });
}

// connect() of a Unix socket succeeds or fails at once.
void RemoteConnection::connect_unix() {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address_.path.data(), address_.path.size());
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    return close(service_unavailable("dial unix " + address_.path + ": connect: " + system_error_text(last_error())));
  if (use_socket(fd.get(), "dial unix " + address_.path)) {
    static_cast<void>(fd.release());
    connected();
  }
}

// The socket may have any address family, although Asio gets tcp::v4() here: only operations that all stream sockets support are used.
bool RemoteConnection::use_socket(int fd, const std::string& what) {
  Error error;
  socket_.assign(tcp::v4(), fd, error);
  if (error) close(service_unavailable(what + ": " + error.message()));
  return !error;
}

Task<void> RemoteConnection::dial(std::shared_ptr<RemoteConnection> self) {
  if (self->closed_) co_return;  // a closed connection may outlive config_
  const DialFunction function = self->config_.dial;
  Result<int> dialed = -1;
  try {
    auto dialing = function(host_and_port(self->address_));
    dialed = co_await std::move(dialing);
  } catch (const std::exception& thrown) {
    dialed = internal_error(thrown.what());
  }
  co_await resume_on(self->loop_);
  FileDescriptor fd(dialed.ok() ? *dialed : -1);
  if (self->closed_) co_return;
  if (!dialed.ok()) {
    self->close(service_unavailable(dialed.status().message()));
    co_return;
  }
  if (!self->use_socket(fd.get(), "dial")) co_return;
  static_cast<void>(fd.release());
  self->connected();
}

void RemoteConnection::connected() {
  tune_tcp(socket_.native_handle(), kKeepalive);
  if (tls_) return start_handshake();
  opened(config_.http2_prior_knowledge && !alone_);
  arm_read();
}

void RemoteConnection::start_handshake() {
  arm_timer(std::min<std::chrono::nanoseconds>(config_.connect_timeout, kMostForHandshake), "net/http: TLS handshake timeout", false);
  SSL* ssl = tls_->ssl();
  SSL_set_connect_state(ssl);
  constexpr std::string_view kHttp1 = "\x08http/1.1";
  if (alone_) SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(kHttp1.data()), kHttp1.size());
  const std::string& name = address_.server_name.empty() ? address_.host : address_.server_name;
  if (!is_address(name)) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (!address_.server_name.empty()) {
    X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl);
    if (is_address(address_.server_name)) {
      X509_VERIFY_PARAM_set1_ip_asc(wanted, address_.server_name.c_str());
    } else {
      X509_VERIFY_PARAM_set1_host(wanted, address_.server_name.c_str(), address_.server_name.size());
    }
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  keep_refused_certificate(ssl);
  tls_->set_output(&out_);
  handshake({});
  arm_read();
}

void RemoteConnection::handshake(std::string_view bytes) {
  if (bytes.starts_with("HTTP/")) return close(service_unavailable("http: server gave HTTP response to HTTPS client"));
  tls_->set_input(bytes);
  switch (tls_->handshake()) {
    case TlsStream::Step::kNeedsInput:
      return send();
    case TlsStream::Step::kDone: {
      const unsigned char* protocol = nullptr;
      unsigned size = 0;
      SSL_get0_alpn_selected(tls_->ssl(), &protocol, &size);
      peer_ = shown_flaws(tls_->ssl());
      return opened(size == 2 && std::string_view(reinterpret_cast<const char*>(protocol), size) == "h2");
    }
    default: {
      const std::string why = tls_error_text(tls_->ssl(), address_.server_name, tls_->error());
      send();
      return close(service_unavailable(why));
    }
  }
}

void RemoteConnection::opened(bool http2) {
  const Http2ClientSettings settings{config_.stream_window, config_.connection_window, address_.plain ? "http" : "https"};
  session_ = http2 ? make_http2_client_session(*this, address_.authority, settings) : make_http1_client_session(*this, address_.authority);
  arm_timer(config_.idle_timeout, "the connection was idle", true);
  last_received_ = Clock::now();
  if (http2 && config_.keep_alive.count() > 0) arm_keep_alive(config_.keep_alive);
  std::deque<RemoteCallRef> pending = std::exchange(pending_, {});
  while (!pending.empty() && session_->can_take()) {
    const RemoteCallRef call = std::move(pending.front());
    pending.pop_front();
    if (!call->over()) start(call);  // the caller may have cancelled the call meanwhile
  }
  if (retired_ || alone_) session_->retire();
  const auto owner = owner_.lock();
  if (!owner) return close(service_unavailable("the client has disconnected"));
  if (tls_) received_tls({});  // reads TLS records that arrived with the end of the handshake
  owner->connection_ready(*this);
  want_flush();
}

void RemoteConnection::start(RemoteCallRef call) {
  const auto self = shared_from_this();
  call->set_peer(peer_);
  call->sent();
  const bool at_once = session_->runs_one_call() && !flush_planned_;
  if (at_once) flush_planned_ = true;
  session_->start(std::move(call));
  if (!at_once) return;
  flush_planned_ = false;
  flush();
}

void RemoteConnection::take(RemoteCallRef call) {
  if (call->over()) return;
  if (closed_) return call->fail(closed_why_);
  if (session_) {
    start(std::move(call));
  } else {
    pending_.push_back(std::move(call));
  }
}

bool RemoteConnection::is_full_of_lasting() const {
  if (can_take()) return false;
  if (session_) return session_->runs_only_lasting();
  const auto lasting = [](const RemoteCallRef& call) { return call->lasting(); };
  return !pending_.empty() && std::all_of(pending_.begin(), pending_.end(), lasting);
}

void RemoteConnection::retire() {
  retired_ = true;
  if (session_) session_->retire();
}

void RemoteConnection::received(std::string_view bytes) {
  if (!session_) return handshake(bytes);
  if (tls_) return received_tls(bytes);
  session_->receive(bytes);
}

void RemoteConnection::received_tls(std::string_view bytes) {
  if (!bytes.empty()) tls_->set_input(bytes);
  auto& plain = scratch().plain;
  while (!closed_) {
    std::size_t got = 0;
    const TlsStream::Step step = tls_->read(plain.data(), plain.size(), got);
    if (step == TlsStream::Step::kDone) {
      session_->receive(std::string_view(plain.data(), got));
      continue;
    }
    if (step == TlsStream::Step::kClosed) {
      session_->receive_end();
      return close(service_unavailable("EOF"));
    }
    if (step == TlsStream::Step::kFailed) return close(service_unavailable("remote error: tls: " + tls_->error()));
    break;
  }
  if (!closed_ && !out_.empty()) send();  // TlsStream::read() may have produced key updates
}

void RemoteConnection::arm_read() {
  if (reading_ || closed_ || (session_ && !session_->wants_input())) return;
  reading_ = true;
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](Error error) {
    self->reading_ = false;
    if (!error && !self->closed_) self->on_readable();
  });
}

void RemoteConnection::on_readable() {
  const RemoteCall::Turn turn(loop_);
  auto& bytes = scratch().bytes;
  for (int round = 0; round < kRounds && !closed_; ++round) {
    const ssize_t got = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got < 0) return close(service_unavailable("read tcp " + host_and_port(address_) + ": read: " + system_error_text(last_error())));
    if (got == 0) return received_end();
    last_received_ = Clock::now();
    received(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) < bytes.size() || (session_ && !session_->wants_input())) break;
  }
  arm_read();
}

// Without close_notify, an attacker on the network can forge the end of a TLS stream. The session therefore gets no receive_end(), and a
// response that the end would complete fails.
void RemoteConnection::received_end() {
  if (!tls_ && session_) session_->receive_end();
  close(service_unavailable("EOF"));
}

void RemoteConnection::want_flush() {
  if (std::exchange(flush_planned_, true)) return;
  asio::post(loop_.context(), [self = shared_from_this()] {
    self->flush_planned_ = false;
    self->flush();
  });
}

void RemoteConnection::flush_after(std::chrono::nanoseconds delay) {
  loop_.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->flush();
  });
}

void RemoteConnection::flush() {
  for (int round = 0; round < kRounds; ++round) {
    if (!fill()) return;
    if (sent_ < out_.size()) return;  // arm_write() continues when the socket is writable
  }
  want_flush();
}

// Sends a portion of the session's output. Returns false if there was none or the connection has closed.
bool RemoteConnection::fill() {
  if (closed_ || !session_ || cannot_send_) return false;
  bool more = false;
  if (out_.size() - sent_ < kSendBudget) {
    // sent bytes are erased here, because out_ may never become empty with a slow socket
    if (sent_ >= kSendBudget) out_.erase(0, std::exchange(sent_, 0));
    std::string& text = scratch().text;
    text.clear();
    if (text.capacity() > 4 * kSendBudget) text = std::string();  // a large body has enlarged the buffer
    session_->fill(text, kSendBudget);
    more = !text.empty();
    if (!tls_) {
      // Bytes that the socket accepts at once are not copied.
      const std::size_t sent = out_.empty() ? send_from(text) : 0;
      if (closed_) return false;
      out_.append(text, sent);
    } else if (more && tls_->write(text) != TlsStream::Step::kDone) {
      close(service_unavailable("tls: " + tls_->error()));
      return false;
    }
  }
  send();
  if (!closed_ && out_.empty() && session_->finished()) close(service_unavailable("the connection is done"));
  return more && !closed_;
}

// Returns the number of bytes that the socket has accepted.
std::size_t RemoteConnection::send_from(std::string_view bytes) {
  std::size_t sent = 0;
  while (!closed_ && !writing_ && !cannot_send_ && sent < bytes.size()) {
    const ssize_t put = ::send(socket_.native_handle(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      sent += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      arm_write();
    } else if (errno != EINTR && reading_) {
      cannot_send_ = true;
    } else if (errno != EINTR) {
      close(service_unavailable("write tcp " + host_and_port(address_) + ": write: " + system_error_text(last_error())));
    }
  }
  return sent;
}

void RemoteConnection::send() {
  sent_ += send_from(std::string_view(out_).substr(sent_));
  if (closed_) return;
  if (sent_ < out_.size() && !cannot_send_) return;
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kKeptBuffer) out_.shrink_to_fit();
}

void RemoteConnection::arm_write() {
  writing_ = true;
  socket_.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](Error error) {
    self->writing_ = false;
    if (self->closed_ || error) return;
    self->send();
    if (self->session_) self->flush();
  });
}

void RemoteConnection::has_room() {
  const auto waited_for = owner_.lock();
  if (waited_for == nullptr) return;
  waited_for->room_changed();
  if (!waited_for->calls_wait()) return;
  asio::post(loop_.context(), [self = shared_from_this()] {
    if (self->closed_) return;
    if (const auto owner = self->owner_.lock()) owner->connection_ready(*self);
  });
}

void RemoteConnection::arm_timer(std::chrono::nanoseconds time, std::string why, bool only_idle) {
  if (cancel_timer_) cancel_timer_();
  cancel_timer_ = loop_.after(time, [weak = weak_from_this(), time, why, only_idle] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (only_idle && !self->idle()) return self->arm_timer(time, why, only_idle);
    self->close(Status(Reason::kTimeout, why));
  });
}

void RemoteConnection::arm_keep_alive(std::chrono::nanoseconds time) {
  cancel_keep_alive_ = loop_.after(time, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_alive();
  });
}

// A PING is sent only if a call runs and the server has been silent for ClientConfig::keep_alive. A silent server is no error if no call
// runs.
void RemoteConnection::check_alive() {
  if (closed_) return;
  const auto now = Clock::now();
  if (pinged_ > last_received_ && now - pinged_ >= config_.keep_alive_timeout)
    return close(service_unavailable("http2: client connection lost"));
  if (pinged_ > last_received_) return arm_keep_alive(pinged_ + config_.keep_alive_timeout - now);
  if (session_->idle()) return arm_keep_alive(config_.keep_alive);
  if (now - last_received_ < config_.keep_alive) return arm_keep_alive(last_received_ + config_.keep_alive - now);
  pinged_ = now;
  session_->ping();
  arm_keep_alive(std::min(config_.keep_alive, config_.keep_alive_timeout));
}

void RemoteConnection::close(Status why) {
  if (std::exchange(closed_, true)) return;
  closed_why_ = why;
  const auto self = shared_from_this();
  if (cancel_timer_) cancel_timer_();
  if (cancel_keep_alive_) cancel_keep_alive_();
  resolver_.cancel();
  Error ignored;
  socket_.close(ignored);
  std::vector<RemoteCallRef> again;
  if (session_) again = session_->lost(why);
  for (RemoteCallRef& call : std::exchange(pending_, {})) call->fail(why);
  if (const auto owner = owner_.lock()) {
    owner->connection_closed(*this, std::move(again), why);
  } else {
    for (const RemoteCallRef& call : again) call->fail(why);
  }
}

}  // namespace backplane

#include "client/remote_connection.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "transport/sockets.hpp"

namespace backplane {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::size_t kBuffer = 64 * 1024;
constexpr std::size_t kSendBudget = 256 * 1024;
constexpr std::chrono::seconds kKeepalive{30};

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

Result<RemoteAddress> parse_server_url(const ClientConfig& config) {
  std::string_view rest = config.server;
  constexpr std::string_view kScheme = "https://";
  if (!rest.starts_with(kScheme)) return bad_request("the server " + quoted(config.server) + " is no https URL");
  rest.remove_prefix(kScheme.size());
  rest = rest.substr(0, rest.find('/'));
  RemoteAddress out;
  out.authority = rest;
  const auto bracket = rest.find(']');
  const auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.port = colon == std::string_view::npos ? "443" : std::string(rest.substr(colon + 1));
  out.host = rest.substr(0, colon);
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty() || out.port.empty()) return bad_request("the server " + quoted(config.server) + " names no host");
  if (!config.insecure_skip_tls_verify) out.server_name = config.tls_server_name.empty() ? out.host : config.tls_server_name;
  return out;
}

RemoteConnection::RemoteConnection(std::weak_ptr<Owner> owner, IoLoop& loop, const ClientConfig& config, RemoteAddress address,
                                   SSL_CTX* context)
    : owner_(std::move(owner)),
      loop_(loop),
      config_(config),
      address_(std::move(address)),
      resolver_(loop.context()),
      socket_(loop.context()),
      tls_(context),
      buffer_(kBuffer, '\0') {}

RemoteConnection::~RemoteConnection() = default;

void RemoteConnection::open() {
  arm_timer(config_.connect_timeout, "the connection took too long to open", false);
  resolver_.async_resolve(address_.host, address_.port, [self = shared_from_this()](Error error, tcp::resolver::results_type found) {
    if (self->closed_) return;
    if (error) return self->close(service_unavailable("the name " + quoted(self->address_.host) + " is not found: " + error.message()));
    asio::async_connect(self->socket_, found, [self](Error failed, const tcp::endpoint&) {
      if (self->closed_) return;
      if (failed) return self->close(service_unavailable("no connection to " + self->address_.authority + ": " + failed.message()));
      self->shake_hands();
    });
  });
}

void RemoteConnection::shake_hands() {
  tune_tcp(socket_.native_handle(), kKeepalive);
  SSL* ssl = tls_.ssl();
  SSL_set_connect_state(ssl);
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
  tls_.set_output(&out_);
  handshake({});
  arm_read();
}

void RemoteConnection::handshake(std::string_view bytes) {
  tls_.set_input(bytes);
  switch (tls_.handshake()) {
    case TlsStream::Step::kNeedsInput:
      return send();
    case TlsStream::Step::kDone:
      return opened();
    default: {
      const long verified = SSL_get_verify_result(tls_.ssl());
      const std::string why = verified == X509_V_OK ? tls_.error() : X509_verify_cert_error_string(verified);
      send();
      return close(service_unavailable("TLS with " + address_.authority + ": " + why));
    }
  }
}

void RemoteConnection::opened() {
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_.ssl(), &protocol, &size);
  const bool http2 = size == 2 && std::string_view(reinterpret_cast<const char*>(protocol), size) == "h2";
  session_ = http2 ? make_http2_client_session(*this, address_.authority) : make_http1_client_session(*this, address_.authority);
  arm_timer(config_.idle_timeout, "the connection was idle", true);
  std::deque<RemoteCallRef> pending = std::exchange(pending_, {});
  while (!pending.empty() && session_->can_take()) {
    session_->start(std::move(pending.front()));
    pending.pop_front();
  }
  if (retired_) session_->retire();
  const auto owner = owner_.lock();
  if (!owner) return close(service_unavailable("the client has gone"));
  received({});  // records that came with the handshake's end
  owner->connection_ready(*this);
  want_flush();
}

void RemoteConnection::take(RemoteCallRef call) {
  if (call->over()) return;
  if (session_) {
    session_->start(std::move(call));
  } else {
    pending_.push_back(std::move(call));
  }
}

bool RemoteConnection::kept_by_lasting() const {
  if (can_take()) return false;
  if (session_) return session_->only_lasting();
  const auto lasting = [](const RemoteCallRef& call) { return call->request().lasting; };
  return !pending_.empty() && std::all_of(pending_.begin(), pending_.end(), lasting);
}

void RemoteConnection::retire() {
  retired_ = true;
  if (session_) session_->retire();
}

void RemoteConnection::received(std::string_view bytes) {
  if (!session_) return handshake(bytes);
  if (!bytes.empty()) tls_.set_input(bytes);
  std::string plain(kBuffer, '\0');
  while (!closed_) {
    std::size_t got = 0;
    const TlsStream::Step step = tls_.read(plain.data(), plain.size(), got);
    if (step == TlsStream::Step::kDone) {
      session_->receive(std::string_view(plain.data(), got));
      continue;
    }
    if (step == TlsStream::Step::kClosed) {
      session_->receive_end();
      return close(service_unavailable("the server has closed the connection"));
    }
    if (step == TlsStream::Step::kFailed) return close(service_unavailable("TLS: " + tls_.error()));
    break;
  }
  want_flush();
}

void RemoteConnection::arm_read() {
  if (reading_ || closed_ || (session_ && !session_->wants_input())) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](Error error, std::size_t count) {
    self->reading_ = false;
    if (self->closed_) return;
    // An end that TLS has not announced may be anybody's: an answer that it would complete is cut short.
    if (error) return self->close(service_unavailable("the connection to " + self->address_.authority + " has broken: " + error.message()));
    self->received(std::string_view(self->buffer_.data(), count));
    self->arm_read();
  });
}

void RemoteConnection::want_flush() {
  if (std::exchange(flush_planned_, true)) return;
  asio::post(loop_.context(), [self = shared_from_this()] {
    self->flush_planned_ = false;
    self->flush();
  });
}

void RemoteConnection::flush() {
  if (closed_ || !session_) return;
  if (out_.size() < kSendBudget) {
    plain_.clear();
    session_->fill(plain_, kSendBudget);
    if (!plain_.empty() && tls_.write(plain_) != TlsStream::Step::kDone) return close(service_unavailable("TLS: " + tls_.error()));
  }
  send();
  if (!closed_ && !sending_now_ && out_.empty() && session_->finished()) close(service_unavailable("the connection is done"));
}

void RemoteConnection::send() {
  if (closed_ || sending_now_ || out_.empty()) return;
  sending_now_ = true;
  sending_.clear();
  sending_.swap(out_);
  asio::async_write(socket_, asio::buffer(sending_), [self = shared_from_this()](Error error, std::size_t) {
    self->sending_now_ = false;
    if (self->closed_) return;
    // What the server has said before it closed may still be there to be read.
    if (error && !self->reading_) return self->close(service_unavailable("the connection has broken: " + error.message()));
    if (!error) self->flush();
    if (!error && !self->session_) self->send();
  });
}

void RemoteConnection::has_room() {
  asio::post(loop_.context(), [self = shared_from_this()] {
    if (self->closed_) return;
    if (const auto owner = self->owner_.lock()) owner->connection_ready(*self);
  });
}

void RemoteConnection::arm_timer(std::chrono::nanoseconds time, const char* why, bool only_idle) {
  if (cancel_timer_) cancel_timer_();
  cancel_timer_ = loop_.after(time, [weak = weak_from_this(), time, why, only_idle] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (only_idle && !self->idle()) return self->arm_timer(time, why, only_idle);
    self->close(Status(Reason::kTimeout, why));
  });
}

void RemoteConnection::close(Status why) {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  if (cancel_timer_) cancel_timer_();
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

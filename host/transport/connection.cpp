#include "transport/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "http/http1_session.hpp"
#include "http/http2_session.hpp"
#include "transport/log.hpp"
#include "transport/tls_contexts.hpp"

namespace backplane {
namespace {

namespace asio = boost::asio;

// Size of one portion of a session's output. A blocked socket has about one portion in unsent_.
constexpr std::size_t kFlushBudget = 256 << 10;
// The number of reads or writes after which a connection lets other connections of the loop run.
constexpr int kRounds = 4;
constexpr std::size_t kMaxUnreadReplies = 64 << 10;
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr unsigned char kTlsHandshakeRecord = 0x16;
constexpr std::size_t kSniffed = 5;
constexpr std::string_view kPlainHttpAnswer = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

// net/http makes the same check of the first five bytes, which would be the header of a TLS record.
bool looks_like_http(std::string_view bytes) {
  static constexpr std::array<std::string_view, 5> kMethods = {"GET /", "HEAD ", "POST ", "PUT /", "OPTIO"};
  return std::find(kMethods.begin(), kMethods.end(), bytes.substr(0, kSniffed)) != kMethods.end();
}

}  // namespace

Connection::Connection(ServerLoop& owner, AcceptedSocket socket)
    : owner_(owner),
      owner_alive_(owner.shared_from_this()),
      socket_(owner.loop().context()),
      remote_address_(std::move(socket.remote_address)),
      local_address_(std::move(socket.local_address)),
      contexts_(std::move(socket.contexts)) {
  boost::system::error_code error;
  socket_.assign(asio::generic::stream_protocol(socket.family, 0), socket.fd.get(), error);
  if (error) throw boost::system::system_error(error, "a socket");  // AcceptedSocket still owns the descriptor and closes it
  (void)socket.fd.release();
  socket_.native_non_blocking(true);
}

Connection::~Connection() = default;

void Connection::start() {
  if (owner_.options().plain) {
    auto peer = std::make_shared<PeerInfo>();
    peer->remote_address = remote_address_;
    open_session(false, std::move(peer));
  } else {
    tls_.emplace(contexts_->initial());
    SSL_set_app_data(tls_->ssl(), &local_address_);
    SSL_set_accept_state(tls_->ssl());
  }
  arm_read();
}

void Connection::open_session(bool http2, std::shared_ptr<const PeerInfo> peer) {
  state_ = State::kOpen;
  if (http2) {
    session_ = Http2Session::make(*this, owner_.runner(), std::move(peer));
  } else {
    session_ = Http1Session::make(*this, owner_.runner(), std::move(peer));
  }
  if (owner_.draining()) session_->drain();
}

// ---- input

void Connection::arm_read() {
  if (reading_ || peer_ended_ || state_ == State::kClosed) return;
  if (state_ == State::kOpen && !session_->wants_input()) return;
  reading_ = true;
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](boost::system::error_code error) {
    self->reading_ = false;
    if (!error) self->on_readable();
  });
}

void Connection::want_read() { arm_read(); }

void Connection::on_readable() {
  receiving_ = true;
  receive_some();
  receiving_ = false;
  // Responses that are ready are sent immediately: another turn of the loop would first poll the kernel.
  if (flush_planned_) flush();
  arm_read();
}

void Connection::receive_some() {
  auto& buffer = owner_.read_buffer();
  for (int round = 0; round < kRounds && state_ != State::kClosed; ++round) {
    const ssize_t got = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got < 0) return close();
    if (got == 0) return peer_ended();
    received({buffer.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < buffer.size()) break;
    if (state_ == State::kOpen && !session_->wants_input()) break;
  }
}

void Connection::received(std::string_view bytes) {
  switch (state_) {
    case State::kHandshake:
      return continue_handshake(bytes);
    case State::kOpen:
      if (!tls_) return session_->receive(bytes);
      tls_->set_input(bytes);
      return read_records();
    case State::kLingering:
    case State::kClosed:
      return;  // received bytes are discarded in these states
  }
}

bool Connection::answered_plain_http(std::string_view bytes) {
  if (!looks_like_http(bytes)) return false;
  transport_log().debug("plain HTTP on the secure port peer={}", remote_address_);
  send(kPlainHttpAnswer);
  linger();
  return true;
}

void Connection::continue_handshake(std::string_view bytes) {
  std::string held;
  if (!speaks_tls_) {
    if (!first_bytes_.empty()) {
      first_bytes_.append(bytes);
      bytes = first_bytes_;
    }
    const bool record = static_cast<unsigned char>(bytes.front()) == kTlsHandshakeRecord;
    if (!record && bytes.size() < kSniffed) {
      if (first_bytes_.empty()) first_bytes_.assign(bytes);
      return;
    }
    if (!record && answered_plain_http(bytes)) return;
    speaks_tls_ = true;
    held = std::move(first_bytes_);
    if (!held.empty()) bytes = held;
  }
  std::string& records = owner_.output_records();
  records.clear();
  tls_->set_output(&records);
  tls_->set_input(bytes);
  const auto step = tls_->handshake();
  tls_->set_output(nullptr);
  if (!records.empty()) send(records);
  if (state_ == State::kClosed) return;
  if (step == TlsStream::Step::kFailed || step == TlsStream::Step::kClosed) return handshake_failed(tls_->error());
  if (step == TlsStream::Step::kNeedsInput) return;
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_->ssl(), &protocol, &size);
  const bool http2 = owner_.options().http2 && size == 2 && std::memcmp(protocol, "h2", 2) == 0;
  open_session(http2, peer_info(tls_->ssl(), *contexts_, remote_address_));
  read_records();  // Requests may have arrived with the client's last handshake bytes.
}

void Connection::read_records() {
  auto& buffer = owner_.plain_buffer();
  std::string replies;  // Key updates and alerts; almost always none.
  tls_->set_output(&replies);
  auto step = TlsStream::Step::kDone;
  while (state_ == State::kOpen) {
    std::size_t got = 0;
    step = tls_->read(buffer.data(), buffer.size(), got);
    if (step != TlsStream::Step::kDone) break;
    session_->receive({buffer.data(), got});
    if (tls_->read_all()) break;
  }
  tls_->set_output(nullptr);
  tls_->set_input({});
  if (!replies.empty() && state_ == State::kOpen) send(replies);
  // A client that requests key updates and never reads the responses would otherwise make unsent_ grow without limit.
  if (!replies.empty() && unsent_.size() > kMaxUnreadReplies) return close();
  if (step == TlsStream::Step::kClosed) return peer_ended();
  if (step == TlsStream::Step::kFailed) {
    transport_log().debug("a TLS connection broke peer={} error={}", remote_address_, tls_->error());
    close();
  }
}

void Connection::handshake_failed(std::string_view why) {
  owner_.counters().tls_handshake_errors.fetch_add(1, std::memory_order_relaxed);
  transport_log().debug("TLS handshake error peer={} error={}", remote_address_, why);
  linger();  // The alert has been sent.
}

// The function also returns true if unread bytes precede the end of the stream.
bool Connection::peer_gone() const noexcept {
  if (peer_ended_ || state_ == State::kClosed) return true;
  pollfd socket{};
  socket.fd = const_cast<Connection*>(this)->socket_.native_handle();
  socket.events = POLLRDHUP;
  return ::poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Connection::peer_ended() {
  if (std::exchange(peer_ended_, true)) return;
  switch (state_) {
    case State::kOpen:
      session_->receive_end();
      want_flush();
      return;
    case State::kHandshake:
      owner_.counters().tls_handshake_errors.fetch_add(1, std::memory_order_relaxed);
      return close();
    case State::kLingering:
      return close();
    case State::kClosed:
      return;
  }
}

// ---- output

void Connection::want_flush() {
  // While the socket is blocked, arm_write() calls flush() as soon as the socket is writable.
  if (flush_planned_ || flushing_ || writing_ || state_ != State::kOpen) return;
  flush_planned_ = true;
  if (!receiving_) owner_.flush_later(shared_from_this());
}

void Connection::flush() {
  flush_planned_ = false;
  if (state_ != State::kOpen || writing_ || !send_unsent()) return;
  std::string& text = owner_.output_text();
  std::string& records = owner_.output_records();
  flushing_ = true;
  bool more = true;
  for (int round = 0; round < kRounds && more; ++round) {
    text.clear();
    session_->fill(text, kFlushBudget);
    more = !text.empty();
    if (!more) break;
    if (tls_) {
      records.clear();
      tls_->set_output(&records);
      const auto step = tls_->write(text);
      tls_->set_output(nullptr);
      if (step != TlsStream::Step::kDone) {
        flushing_ = false;
        return close();
      }
    }
    if (!send(tls_ ? records : text)) {
      flushing_ = false;
      return;
    }
  }
  flushing_ = false;
  if (more) return want_flush();
  if (session_->finished()) linger();
}

bool Connection::send(std::string_view bytes) {
  // If the socket is blocked, `bytes` are appended to unsent_, because the bytes that are queued there must be sent first.
  while (!writing_ && !bytes.empty()) {
    const ssize_t put = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      close();
      return false;
    }
    break;
  }
  if (bytes.empty()) return true;
  unsent_.append(bytes);
  if (!writing_) {
    since_ = Clock::now();
    arm_write();
  }
  return false;
}

bool Connection::send_unsent() {
  while (unsent_offset_ < unsent_.size()) {
    const ssize_t put = ::send(socket_.native_handle(), unsent_.data() + unsent_offset_, unsent_.size() - unsent_offset_, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      arm_write();
      return false;
    }
    if (put < 0) {
      close();
      return false;
    }
    unsent_offset_ += static_cast<std::size_t>(put);
    since_ = Clock::now();
  }
  unsent_offset_ = 0;
  std::string().swap(unsent_);
  return true;
}

void Connection::arm_write() {
  writing_ = true;
  socket_.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](boost::system::error_code error) {
    self->writing_ = false;
    if (error || self->state_ == State::kClosed) return;
    if (self->state_ == State::kOpen) return self->flush();
    if (self->send_unsent() && self->state_ == State::kLingering) ::shutdown(self->socket_.native_handle(), SHUT_WR);
  });
}

// ---- closing

void Connection::linger() {
  if (state_ == State::kLingering || state_ == State::kClosed) return;
  state_ = State::kLingering;
  since_ = Clock::now();
  if (session_) session_->connection_lost();  // The session has finished; no handler runs.
  if (tls_ && speaks_tls_) {
    std::string& records = owner_.output_records();
    records.clear();
    tls_->set_output(&records);
    tls_->close();
    tls_->set_output(nullptr);
    if (!records.empty()) send(records);
  }
  if (state_ == State::kClosed) return;
  if (peer_ended_ && unsent_.empty()) return close();
  if (unsent_.empty()) ::shutdown(socket_.native_handle(), SHUT_WR);
  arm_read();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();
  state_ = State::kClosed;
  if (session_) session_->connection_lost();
  boost::system::error_code ignored;
  socket_.close(ignored);
  owner_.remove(*this);
}

void Connection::drain() {
  if (state_ == State::kOpen) session_->drain();
}

void Connection::tick(Clock::time_point now) {
  const auto waited = now - since_;
  switch (state_) {
    case State::kHandshake:
      if (waited <= owner_.options().handshake_timeout) return;
      owner_.counters().tls_handshake_errors.fetch_add(1, std::memory_order_relaxed);
      return close();
    case State::kOpen:
      if (writing_ && waited > owner_.runner().limits().write_timeout) return close();
      return session_->tick(now);
    case State::kLingering:
      if (waited > kLinger) close();
      return;
    case State::kClosed:
      return;
  }
}

}  // namespace backplane

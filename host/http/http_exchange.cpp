#include "http/http_exchange.hpp"

#include <algorithm>

#include "base/coarse_clock.hpp"
#include "base/yield.hpp"
#include "http/header_pool.hpp"
#include "http/header_text.hpp"

namespace backplane {

HttpExchange::HttpExchange(RequestHead request, std::shared_ptr<const PeerInfo> peer, const HttpLimits& limits, StreamPort& port)
    : request_(std::move(request)), peer_(std::move(peer)), limits_(limits), port_(&port), owner_(port.weak_from_this()) {}

HttpExchange::~HttpExchange() {
  recycle_headers(std::move(request_.headers));
  recycle_headers(std::move(response_.headers));
}

// ---- the request

std::string_view HttpExchange::header(std::string_view name) const noexcept { return find_header(request_.headers, name); }

const PeerCertificate* HttpExchange::peer_certificate() const noexcept {
  // While the connection is open, the certificate may expire, or the server may stop trusting its authority.
  if (!peer_->trust || std::chrono::system_clock::now() > peer_->certificate_expires || !peer_->trust->accepted()) return nullptr;
  return &peer_->certificate;
}

const PeerCertificate* HttpExchange::front_proxy_certificate() const noexcept {
  if (!peer_->proxy_trust || std::chrono::system_clock::now() > peer_->certificate_expires || !peer_->proxy_trust->accepted())
    return nullptr;
  return &peer_->certificate;
}

bool HttpExchange::peer_certificate_rejected() const noexcept { return peer_->trust && peer_certificate() == nullptr; }

Task<Result<std::string>> HttpExchange::read_body(std::size_t max_bytes) {
  co_await origin_;
  const std::string limit_text = "limit is " + std::to_string(max_bytes);
  if (request_.content_length && *request_.content_length > max_bytes) co_return request_entity_too_large(limit_text);
  std::string body;
  for (;;) {
    while (!body_.empty() && body.size() <= max_bytes) {  // body_consumed() may add bytes to body_
      const std::size_t count = body_.size();
      if (body.empty()) {
        body.swap(body_);
      } else {
        body += body_;
        body_.clear();
      }
      if (port_ != nullptr) port_->body_consumed(*this, count);
    }
    if (body.size() > max_bytes) co_return request_entity_too_large(limit_text);
    if (body_ended_) co_return std::move(body);
    Status arrived = co_await wait_for_body();
    if (!arrived.ok()) co_return arrived;
  }
}

Task<Result<std::string>> HttpExchange::read_body_some() {
  co_await origin_;
  Status arrived = co_await wait_for_body();
  if (!arrived.ok()) co_return arrived;
  std::string some = std::exchange(body_, {});
  // Extends the flow-control window by the bytes that were taken.
  if (port_ != nullptr && !some.empty()) port_->body_consumed(*this, some.size());
  co_return some;
}

Task<Status> HttpExchange::wait_for_body() {
  while (body_.empty() && !body_ended_) {
    if (body_timed_out_) co_return timeout("the request body did not arrive in time", 0);
    if (lost_ || closed_ || port_ == nullptr) co_return gone();
    if (!std::exchange(body_wanted_, true)) port_->body_wanted(*this);
    body_since_ = Clock::now();
    co_await body_gate_;
  }
  co_return Status();
}

void HttpExchange::body_arrived(std::string_view bytes) {
  body_.append(bytes);
  body_since_ = Clock::now();
  body_gate_.open();
}

void HttpExchange::body_ended() {
  body_ended_ = true;
  body_gate_.open();
}

std::size_t HttpExchange::drop_body() {
  const std::size_t count = body_.size();
  body_.clear();
  return count;
}

// ---- the response

void HttpExchange::add_response_header(std::string name, std::string value) {
  if (head_sent_) return;
  strip_line_breaks(value);
  if (response_.headers.capacity() == 0) response_.headers = take_headers();
  response_.headers.emplace_back(std::move(name), std::move(value));
}

void HttpExchange::set_response_header(std::string name, std::string value) {
  if (head_sent_) return;
  std::erase_if(response_.headers, [&](const Header& header) { return equal_ignoring_case(header.first, name); });
  add_response_header(std::move(name), std::move(value));
}

void HttpExchange::begin_response(int code, std::string_view content_type) {
  response_.code = code;
  if (!content_type.empty()) set_response_header("Content-Type", std::string(content_type));
  response_.has_body = request_.method != "HEAD" && code_has_body(code);
}

void HttpExchange::send_head(std::optional<std::uint64_t> content_length) {
  if (code_has_body(response_.code)) response_.content_length = content_length;
  if (content_length == 0) response_.has_body = false;
  head_sent_ = true;
  output_since_ = coarse_now();
  if (!response_.has_body) output_ended_ = true;
  if (port_ != nullptr) port_->head_ready(*this);
}

Task<void> HttpExchange::respond(int code, std::string_view content_type, std::vector<SharedBytes> body) {
  co_await origin_;
  if (started()) co_return;
  begin_response(code, content_type);
  std::size_t size = 0;
  for (const auto& chunk : body) size += chunk.size();
  if (response_.has_body && size > limits_.gzip_threshold && may_compress(false)) {
    begin_gzip();
    co_await compress(std::move(body));
    end_output();
  } else {
    send_head(size);
    if (!response_.has_body) co_return;
    for (auto& chunk : body) queue(std::move(chunk));
    end_output();
  }
  if (output_.size() > limits_.write_window) co_await wait_for_room();
}

Task<Status> HttpExchange::start(int code, std::string_view content_type) {
  co_await origin_;
  if (started()) co_return internal_error("the response has been started before");
  begin_response(code, content_type);
  if (lost_ || port_ == nullptr) co_return gone();
  if (response_.has_body && may_compress(true)) {
    compression_ = Compression::kHeld;
  } else {
    compression_ = Compression::kOff;
    send_head(std::nullopt);
  }
  co_return Status();
}

Task<Status> HttpExchange::write(std::vector<SharedBytes> chunks) {
  co_await origin_;
  if (!started()) co_return internal_error("the response has not been started");
  if (lost_ || port_ == nullptr) co_return gone();
  if (!response_.has_body || output_ended_) co_return Status();
  if (compression_ == Compression::kHeld) {
    for (auto& chunk : chunks) {
      held_size_ += chunk.size();
      held_.push_back(std::move(chunk));
    }
    if (held_size_ <= limits_.gzip_threshold) co_return Status();
    begin_gzip();
    chunks = std::exchange(held_, {});
  }
  if (compression_ == Compression::kOn) {
    co_await compress(std::move(chunks));
  } else {
    for (auto& chunk : chunks) queue(std::move(chunk));
    port_->output_ready(*this);
  }
  bool connected = !lost_ && port_ != nullptr;
  if (output_.size() > limits_.write_window) connected = co_await wait_for_room();
  if (!connected) co_return gone();
  co_return Status();
}

Task<void> HttpExchange::finish() {
  co_await origin_;
  if (!started() || output_ended_) co_return;
  if (compression_ == Compression::kHeld) {  // too small for compression
    send_head(held_size_);
    for (auto& chunk : std::exchange(held_, {})) queue(std::move(chunk));
    if (output_ended_) co_return;
  }
  end_output();
}

Task<Status> HttpExchange::switch_protocols(std::string_view protocol) {
  co_await origin_;
  if (started()) co_return internal_error("the response has been started before");
  if (lost_ || port_ == nullptr) co_return gone();
  if (!port_->can_switch_protocols()) co_return bad_request("this connection cannot leave HTTP");
  set_response_header("Upgrade", std::string(protocol));
  response_.code = 101;
  response_.has_body = true;  // the body is the bytes of the other protocol
  compression_ = Compression::kOff;
  switched_ = true;
  body_ended_ = false;
  send_head(std::nullopt);
  co_return Status();
}

Task<std::string> HttpExchange::read_some() {
  co_await origin_;
  while (body_.empty()) {
    if (!switched_ || closed_ || lost_ || port_ == nullptr) co_return std::string();
    co_await body_gate_;
  }
  std::string some = std::exchange(body_, {});
  if (port_ != nullptr) port_->body_consumed(*this, some.size());
  co_return some;
}

void HttpExchange::queue(SharedBytes chunk) {
  if (lost_) return;
  if (output_.empty()) output_since_ = coarse_now();  // the write timeout is measured from the first unsent byte
  output_.push(std::move(chunk));
}

void HttpExchange::end_output() {
  if (gzip_) {
    queue(SharedBytes(gzip_->end()));
    gzip_.reset();
  }
  output_ended_ = true;
  if (port_ != nullptr) port_->output_ready(*this);
}

// Returns a value because clang 14 at -O2 cannot split this coroutine as Task<void>.
Task<bool> HttpExchange::wait_for_room() {
  while (output_.size() > limits_.write_window && !lost_ && port_ != nullptr) co_await room_;
  co_return !lost_ && port_ != nullptr;
}

void HttpExchange::take(std::string& out, std::size_t count) {
  output_.take(out, count);
  output_since_ = coarse_now();
  // The writer resumes when half of the window is free, so that it resumes less often and writes more each time.
  if (room_.waited_on() && output_.size() <= limits_.write_window / 2) room_.open();
}

// ---- gzip

bool HttpExchange::accepts_gzip() const noexcept { return header_has_token(request_.headers, "Accept-Encoding", "gzip"); }

bool HttpExchange::may_compress(bool streamed) const noexcept {
  return limits_.gzip && compressible_.value_or(!streamed) && find_header(response_.headers, "Content-Encoding").empty() && accepts_gzip();
}

void HttpExchange::begin_gzip() {
  compression_ = Compression::kOn;
  gzip_ = std::make_unique<GzipStream>();
  set_response_header("Content-Encoding", "gzip");
  add_response_header("Vary", "Accept-Encoding");
  send_head(std::nullopt);
}

Task<void> HttpExchange::compress(std::vector<SharedBytes> chunks) {
  // Compressing this many bytes takes about half a millisecond. After them, compress() lets other exchanges of the executor run.
  constexpr std::size_t kTurn = 64 << 10;
  std::size_t since_yield = 0;
  for (auto& chunk : chunks) {
    for (std::size_t offset = 0; offset < chunk.size(); offset += kTurn) {
      const std::string_view piece = chunk.view().substr(offset, kTurn);
      std::string packed = gzip_->add(piece);
      queue(SharedBytes(std::move(packed)));
      since_yield += piece.size();
      if (since_yield < kTurn) continue;
      since_yield = 0;
      if (port_ != nullptr) port_->output_ready(*this);
      co_await Yield{};
      bool connected = !lost_ && port_ != nullptr;
      if (output_.size() > limits_.write_window) connected = co_await wait_for_room();
      if (!connected) co_return;
    }
    chunk = SharedBytes();
  }
  if (port_ != nullptr) port_->output_ready(*this);
}

// ---- the connection

Status HttpExchange::gone() const { return timeout("the connection to the client has been closed", 0); }

std::uint64_t HttpExchange::add_close_callback(std::function<void()> callback) {
  const std::uint64_t id = close_callbacks_.add(std::move(callback));
  if (!closed_) return id;
  // The callback is posted, because the caller may hold a lock that the callback needs.
  if (origin_.executor() != nullptr) origin_.executor()->post([self = shared_from_this()] { self->close_callbacks_.run(); });
  return id;
}

void HttpExchange::peer_closed() {
  if (closed_.exchange(true)) return;
  body_gate_.open();
  close_callbacks_.run();
}

void HttpExchange::lost() {
  const auto self = shared_from_this();
  port_ = nullptr;
  lost_ = true;
  output_.clear();
  held_.clear();
  peer_closed();
  body_gate_.open();
  room_.open();
}

void HttpExchange::detach() {
  port_ = nullptr;
  close_callbacks_.clear();
  room_.open();
  body_gate_.open();
}

bool HttpExchange::stalled(Clock::time_point now) {
  if (!switched_ && body_gate_.waited_on() && now - body_since_ > limits_.body_timeout) {
    body_timed_out_ = true;
    body_gate_.open();
  }
  return head_sent_ && !output_.empty() && now - output_since_ > limits_.write_timeout;
}

bool HttpExchange::peer_gone() const noexcept {
  if (origin_.executor() != current_executor()) return false;
  return closed_ || (port_ != nullptr && port_->peer_gone());
}

void HttpExchange::close_connection_after() {
  if (port_ != nullptr) port_->close_after(*this);
}

void HttpExchange::abort() {
  if (origin_.executor() == nullptr) return abort_here();
  // Posted, because the caller may be inside the session or on another thread.
  origin_.executor()->post([self = shared_from_this()] { self->abort_here(); });
}

void HttpExchange::abort_here() {
  if (port_ != nullptr) port_->break_off(*this);
}

void HttpExchange::handler_ended() {
  if (auto owner = owner_.lock()) owner->handler_ended(*this);
}

}  // namespace backplane

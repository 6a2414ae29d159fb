#include "http/http1_session.hpp"

#include <algorithm>

#include "http/header_text.hpp"
#include "http/http1_head.hpp"

namespace backplane {
namespace {

namespace beast_http = boost::beast::http;

// net/http permits this many bytes above its limit, so that a header block of exactly the limit is accepted.
constexpr std::size_t kHeaderSlop = 4096;
// The session stops reading while an exchange runs and this much input is buffered: pipelined requests, and body bytes beyond the read
// window.
constexpr std::size_t kMaxPendingInput = 64 << 10;
// How long an upgraded connection may continue when the server drains.
constexpr std::chrono::seconds kTunnelGrace{1};
// A new connection may send its first request within this time, even if the server drains.
constexpr std::chrono::seconds kNewConnectionGrace{5};

}  // namespace

std::shared_ptr<Http1Session> Http1Session::make(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer) {
  return std::shared_ptr<Http1Session>(new Http1Session(transport, runner, std::move(peer)));
}

Http1Session::Http1Session(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer)
    : transport_(&transport), runner_(runner), limits_(runner.limits()), peer_(std::move(peer)) {}

// ---- input

void Http1Session::receive(std::string_view bytes) {
  if (finished_) return;
  in_.append(bytes);
  advance();
}

void Http1Session::receive_end() {
  ended_ = true;
  if (exchange_) {
    // Like net/http: the request is cancelled, but a response that the handler is still writing is sent.
    exchange_->peer_closed();
  } else {
    finish_connection();
  }
}

bool Http1Session::wants_input() const {
  if (ended_ || finished_) return false;
  return !exchange_ || pending().size() < kMaxPendingInput;
}

void Http1Session::drop_input(std::size_t count) {
  in_offset_ += count;
  if (in_offset_ == in_.size()) {
    in_.clear();
    in_offset_ = 0;
    if (in_.capacity() > kMaxPendingInput) in_.shrink_to_fit();
  } else if (in_offset_ > kMaxPendingInput) {
    in_.erase(0, in_offset_);
    in_offset_ = 0;
  }
}

void Http1Session::advance() {
  while (!finished_) {
    if (exchange_ || discarding_) {
      if (!feed_body()) return;
      if (exchange_ || discarding_) return;
    }
    const Parsed parsed = parse_head();
    if (parsed == Parsed::kHead) begin_exchange();
    if (parsed != Parsed::kHead) return;
  }
}

Http1Session::Parsed Http1Session::parse_head() {
  if (!pending().empty() && !parser_) {
    parser_.emplace(limits_.max_header_bytes + kHeaderSlop);
    header_bytes_ = 0;
    since_ = Clock::now();
  }
  while (!pending().empty()) {
    Http1Parser::Error error;
    const std::size_t used = parser_->put(boost::asio::const_buffer(pending().data(), pending().size()), error);
    drop_input(used);
    header_bytes_ += used;
    const std::size_t seen = header_bytes_ + (parser_->is_header_done() ? 0 : pending().size());
    if (error == beast_http::error::header_limit || seen > limits_.max_header_bytes + kHeaderSlop) {
      refuse("431 Request Header Fields Too Large");
      return Parsed::kRefused;
    }
    if (error == beast_http::error::need_more) return Parsed::kMore;
    if (error) {
      refuse("400 Bad Request");
      return Parsed::kRefused;
    }
    if (!parser_->is_header_done()) continue;
    const std::string refusal = http1_refusal(*parser_);
    if (refusal.empty()) return Parsed::kHead;
    refuse(refusal);
    return Parsed::kRefused;
  }
  return Parsed::kMore;
}

void Http1Session::begin_exchange() {
  RequestHead head = std::move(parser_->head);
  normalize_target(head);
  if (auto length = parser_->content_length()) head.content_length = *length;
  keep_alive_ = parser_->version >= 11 ? !header_has_token(head.headers, "Connection", "close")
                                       : header_has_token(head.headers, "Connection", "keep-alive");
  expects_continue_ =
      parser_->version >= 11 && !parser_->is_done() && equal_ignoring_case(find_header(head.headers, "Expect"), "100-continue");
  chunked_ = false;
  served_any_ = true;
  exchange_ = std::make_shared<HttpExchange>(std::move(head), peer_, limits_, *this);
  // Body bytes that arrived with the head are passed to the exchange before the handler starts.
  if (feed_body()) runner_.run(exchange_);
}

void Http1Session::feed_switched() {
  if (!exchange_ || pending().empty() || exchange_->unread_body() >= limits_.read_window) return;
  const std::size_t count = pending().size();
  exchange_->body_arrived(pending());
  drop_input(count);
}

bool Http1Session::feed_body() {
  if (switched_) {
    feed_switched();
    return true;
  }
  while (!parser_->is_done() && !pending().empty()) {
    if (exchange_ && exchange_->unread_body() >= limits_.read_window) return true;
    Http1Parser::Error error;
    const std::size_t used = parser_->put(boost::asio::const_buffer(pending().data(), pending().size()), error);
    drop_input(used);
    std::string body = std::exchange(parser_->body, {});
    if (exchange_) {
      if (!body.empty()) exchange_->body_arrived(body);
    } else {
      discarded_ += body.size();
    }
    if (error == beast_http::error::need_more && pending().size() < kMaxPendingInput) break;
    if (error || discarded_ > limits_.max_discarded_body) {
      const auto broken = exchange_;
      if (broken && !broken->head_sent()) {
        // The handler has not responded yet, so the client gets net/http's message for an unreadable body.
        refuse("400 Bad Request");
      } else {
        finish_connection();
      }
      if (broken) broken->lost();
      exchange_.reset();
      return false;
    }
  }
  if (parser_->is_done()) continue_after_body();
  return true;
}

void Http1Session::continue_after_body() {
  if (exchange_) {
    if (!exchange_->body_complete()) exchange_->body_ended();
  } else if (discarding_) {
    discarding_ = false;
    parser_.reset();
    since_ = Clock::now();
  }
}

void Http1Session::refuse(std::string_view text) {
  out_ += "HTTP/1.1 ";
  out_ += text.substr(0, text.find(':'));
  out_ += "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n";
  out_ += text;
  finish_connection();
}

void Http1Session::finish_connection() {
  finished_ = true;
  in_.clear();
  in_offset_ = 0;
  if (transport_ != nullptr) transport_->want_flush();
}

// ---- output

bool Http1Session::body_too_long_to_discard() const {
  if (parser_->is_done()) return false;
  if (expects_continue_) return true;  // the client may send the body or not, because it has not received 100 (Continue)
  // The remaining size of a chunked body is unknown.
  const auto left = parser_->content_length_remaining();
  return !left || *left > limits_.max_discarded_body;
}

void Http1Session::head_ready(HttpExchange& exchange) {
  if (&exchange != exchange_.get()) return;
  const ResponseHead& head = exchange.response_head();
  if (draining_ || body_too_long_to_discard() || header_has_token(head.headers, "Connection", "close")) keep_alive_ = false;
  if (head.code == 101) {
    switched_ = true;
    keep_alive_ = false;
    append_http1_head(out_, head, {.switched = true});
    if (transport_ != nullptr) transport_->want_flush();
    return;
  }
  const bool old = parser_->version < 11;
  const bool unsized = head.has_body && !head.content_length;
  chunked_ = unsized && !old;
  if (unsized && old) keep_alive_ = false;
  append_http1_head(out_, head, {.http10 = old, .chunked = chunked_, .keep_alive = keep_alive_});
  if (transport_ != nullptr) transport_->want_flush();
}

void Http1Session::output_ready(HttpExchange&) {
  if (transport_ != nullptr) transport_->want_flush();
}

void Http1Session::fill(std::string& out, std::size_t budget) {
  for (;;) {
    out += out_;
    out_.clear();
    if (!exchange_ || !exchange_->head_sent()) return;
    const std::size_t room = budget > out.size() ? budget - out.size() : 0;
    const std::size_t count = std::min(exchange_->output_size(), room);
    if (count > 0) {
      if (chunked_) append_chunk_size(out, count);
      exchange_->take(out, count);
      if (chunked_) out += "\r\n";
    }
    if (exchange_->output_size() > 0 || !exchange_->output_ended()) return;
    if (chunked_) out += "0\r\n\r\n";
    complete();
  }
}

void Http1Session::complete() {
  discarded_ = exchange_->drop_body();
  exchange_->detach();
  exchange_.reset();
  since_ = Clock::now();
  if (!keep_alive_ || ended_ || draining_) return finish_connection();
  discarding_ = !parser_->is_done();
  if (!discarding_) parser_.reset();
  if (transport_ != nullptr) transport_->want_read();
  advance();
}

// ---- StreamPort

void Http1Session::body_wanted(HttpExchange& exchange) {
  if (!expects_continue_ || exchange.head_sent() || &exchange != exchange_.get()) return;
  expects_continue_ = false;
  out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  if (transport_ != nullptr) transport_->want_flush();
}

void Http1Session::body_consumed(HttpExchange& exchange, std::size_t) {
  if (&exchange != exchange_.get()) return;
  feed_body();
  if (transport_ != nullptr) transport_->want_read();
}

void Http1Session::break_off(HttpExchange& exchange) {
  if (&exchange != exchange_.get()) return;
  const auto broken = std::move(exchange_);
  out_.clear();
  finish_connection();
  broken->lost();
}

void Http1Session::close_after(HttpExchange& exchange) {
  if (&exchange == exchange_.get()) keep_alive_ = false;
}

// ---- lifetime

void Http1Session::connection_lost() {
  transport_ = nullptr;
  finished_ = true;
  if (const auto lost = std::move(exchange_)) lost->lost();
}

void Http1Session::drain() {
  if (!std::exchange(draining_, true)) draining_since_ = Clock::now();
  if (!exchange_ && !parser_ && pending().empty() && served_any_) finish_connection();
}

void Http1Session::tick(Clock::time_point now) {
  if (finished_) return;
  if (exchange_) {
    // An upgraded connection may never end, so a draining server waits for it for kTunnelGrace only.
    const bool held_up = draining_ && switched_ && now - draining_since_ > kTunnelGrace;
    if (held_up || exchange_->stalled(now)) break_off(*exchange_);
    return;
  }
  const auto waited = now - since_;
  const bool in_header = !discarding_ && (parser_ || !served_any_);
  const bool too_long =
      discarding_ ? waited > limits_.body_timeout : waited > (in_header ? limits_.read_header_timeout : limits_.idle_timeout);
  if (too_long || (draining_ && !parser_ && waited > kNewConnectionGrace)) finish_connection();
}

}  // namespace backplane

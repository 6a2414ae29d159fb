// HTTP/1.1 and HTTP/1.0 on one connection. The session runs one exchange at a time; pipelined requests wait in the input buffer.
//
// Thread-safety: the connection's executor only.
// Lifetime:      connection_lost() is called before the transport is destroyed.
// Errors:        input that cannot be parsed gets 400, 417, 431 or 501 and net/http's message. The connection is then closed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/handler_runner.hpp"
#include "http/http1_parser.hpp"
#include "http/session.hpp"

namespace backplane {

class Http1Session final : public HttpSession, public StreamPort {
 public:
  static std::shared_ptr<Http1Session> make(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer);

  void receive(std::string_view bytes) override;
  void receive_end() override;
  bool wants_input() const override;
  void fill(std::string& out, std::size_t budget) override;
  bool finished() const override { return finished_; }
  void connection_lost() override;
  void drain() override;
  void tick(Clock::time_point now) override;
  bool idle() const override { return exchange_ == nullptr; }

  void head_ready(HttpExchange& exchange) override;
  void output_ready(HttpExchange& exchange) override;
  void body_wanted(HttpExchange& exchange) override;
  void body_consumed(HttpExchange& exchange, std::size_t count) override;
  void break_off(HttpExchange& exchange) override;
  void close_after(HttpExchange& exchange) override;
  bool can_switch_protocols() const override { return parser_ && parser_->version >= 11; }
  bool peer_gone() const noexcept override { return transport_ == nullptr || transport_->peer_gone(); }
  void handler_ended(HttpExchange&) override {}

 private:
  enum class Parsed { kMore, kHead, kRefused };

  Http1Session(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer);
  std::string_view pending() const { return std::string_view(in_).substr(in_offset_); }
  void drop_input(std::size_t count);
  void advance();
  Parsed parse_head();
  void begin_exchange();
  void feed_switched();
  // Passes body bytes of the input to the exchange. Without an exchange, discards them. Returns false if the body is malformed or too long
  // to be discarded; the connection is then closed.
  bool feed_body();
  void continue_after_body();
  void refuse(std::string_view text);
  void finish_connection();
  void complete();
  bool body_too_long_to_discard() const;

  SessionTransport* transport_;
  HandlerRunner& runner_;
  const HttpLimits& limits_;
  std::shared_ptr<const PeerInfo> peer_;

  std::string in_;
  std::size_t in_offset_ = 0;
  std::size_t header_bytes_ = 0;
  std::optional<Http1Parser> parser_;  // the parser of the request that is being read or answered
  std::shared_ptr<HttpExchange> exchange_;
  std::string out_;  // heads, interim responses and the texts of refuse()
  std::size_t discarded_ = 0;
  bool discarding_ = false;
  bool chunked_ = false;
  bool switched_ = false;  // the exchange was upgraded to another protocol, so bytes are forwarded unchanged
  bool expects_continue_ = false;
  bool keep_alive_ = true;
  bool served_any_ = false;
  bool ended_ = false;  // the peer has closed its direction of the connection
  bool draining_ = false;
  Clock::time_point draining_since_;
  bool finished_ = false;
  // when the connection became idle, or when the session began to read the headers or to discard the body
  Clock::time_point since_ = Clock::now();
};

}  // namespace backplane

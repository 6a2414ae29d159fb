// HTTP/2 on one connection, over nghttp2's memory interface.
//
// Thread-safety: the connection's executor only.
// Lifetime:      connection_lost() is called before the transport is destroyed.
// Errors:        nghttp2 responds to protocol errors with RST_STREAM and GOAWAY, and ends the connection after floods of resets, SETTINGS,
//                PING or CONTINUATION. If too many exchanges wait for a handler (see HttpLimits::h2_waiting_streams_factor), the session
//                sends GOAWAY with ENHANCE_YOUR_CALM.
#pragma once

#include <nghttp2/nghttp2.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/frame_allocator.hpp"
#include "http/handler_runner.hpp"
#include "http/session.hpp"

namespace backplane {

class Http2Session final : public HttpSession, public StreamPort {
 public:
  static std::shared_ptr<Http2Session> make(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer);
  ~Http2Session() override;

  void receive(std::string_view bytes) override;
  void receive_end() override;
  // Flow control limits the buffered bytes, so the session always accepts input.
  bool wants_input() const override { return !failed_; }
  void fill(std::string& out, std::size_t budget) override;
  bool finished() const override;
  void connection_lost() override;
  // Sends a GOAWAY with the maximum stream ID, and a PING. After the client has acknowledged the PING, or after kNoticeTimeout, sends a
  // GOAWAY with the ID of the last stream.
  void drain() override;
  void tick(Clock::time_point now) override;
  bool idle() const override { return streams_.empty(); }

  void head_ready(HttpExchange& exchange) override;
  void output_ready(HttpExchange& exchange) override;
  void body_wanted(HttpExchange& exchange) override;
  void body_consumed(HttpExchange& exchange, std::size_t count) override;
  void break_off(HttpExchange& exchange) override;
  void close_after(HttpExchange&) override { drain(); }
  bool peer_gone() const noexcept override { return transport_ == nullptr || transport_->peer_gone(); }
  void handler_ended(HttpExchange& exchange) override;

 private:
  friend struct Http2Callbacks;
  enum class Drain { kNo, kNoticeSent, kFinal };

  struct Stream {
    RequestHead head;  // moved into the exchange when the headers are complete
    std::size_t header_bytes = 0;
    bool header_too_large = false;
    std::shared_ptr<HttpExchange> exchange;
    // True if the response was sent before the end of the request body. The session discards the rest of the body, up to a limit of time
    // and size.
    bool discarding = false;
    Clock::time_point discarding_since{};
    std::size_t discarded = 0;
  };

  Http2Session(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer);
  void want_flush();
  void fail();
  Stream* stream(std::int32_t id);
  void begin_stream(std::int32_t id);
  // Returns false if the connection must be closed.
  bool add_header(Stream& stream, std::string_view name, std::string_view value);
  void headers_complete(std::int32_t id, bool body_follows);
  void refuse(std::int32_t id, int code);
  void body_arrived(std::int32_t id, std::string_view bytes);
  void response_sent(std::int32_t id);
  void stop_upload(Stream& stream, std::int32_t id);
  void stream_closed(std::int32_t id);
  void start_waiting();
  void final_goaway();
  void release_body(HttpExchange& exchange);

  SessionTransport* transport_;
  HandlerRunner& runner_;
  const HttpLimits& limits_;
  std::shared_ptr<const PeerInfo> peer_;
  nghttp2_session* session_ = nullptr;

  template <class Value>
  using ByStream = std::unordered_map<std::int32_t, Value, std::hash<std::int32_t>, std::equal_to<>,
                                      FrameAllocator<std::pair<const std::int32_t, Value>>>;
  ByStream<Stream> streams_;
  std::deque<std::shared_ptr<HttpExchange>> waiting_;  // exchanges whose headers are complete and whose handlers have not started
  std::size_t running_ = 0;                            // the number of running handlers, including handlers of closed streams
  std::string* out_ = nullptr;                         // set while fill() runs
  std::size_t budget_ = 0;
  bool starting_ = false;
  bool failed_ = false;
  bool header_open_ = false;
  bool settings_seen_ = false;
  Drain drain_ = Drain::kNo;
  Clock::time_point header_since_ = Clock::now();
  Clock::time_point idle_since_ = Clock::now();
  Clock::time_point drain_since_{};
};

}  // namespace backplane

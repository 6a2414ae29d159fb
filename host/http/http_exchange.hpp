// The implementation of Exchange for all protocols: request data, response state, queues of body bytes, gzip. A StreamPort implements what
// differs between the protocols.
//
// Thread-safety: one executor. abort() may be called from any thread. Functions that return a Task may be called on any executor, and
//                resume on the executor of the exchange.
// Lifetime:      the session shares the exchange until the response is complete or the peer has disconnected; the running handler shares
//                it, too.
// Errors:        like Exchange. A call on an exchange that is detached or lost returns kTimeout or has no effect.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "backplane/points/close_callbacks.hpp"
#include "backplane/points/http.hpp"
#include "base/front_proxy.hpp"
#include "base/origin_executor.hpp"
#include "http/chunk_queue.hpp"
#include "http/gate.hpp"
#include "http/gzip.hpp"
#include "http/limits.hpp"
#include "http/session.hpp"

namespace backplane {

class HttpExchange;

// The interface of a session for its exchanges. A handler may cause any of these calls while the session itself is calling the exchange.
class StreamPort : public std::enable_shared_from_this<StreamPort> {
 public:
  virtual ~StreamPort() = default;
  // response_head() is complete. If the response has a body, output_ready() is called later.
  virtual void head_ready(HttpExchange& exchange) = 0;
  // take() can return more bytes, or output_ended() has become true.
  virtual void output_ready(HttpExchange& exchange) = 0;
  // The handler waits for body bytes for the first time.
  virtual void body_wanted(HttpExchange& exchange) = 0;
  // The handler has read `count` body bytes.
  virtual void body_consumed(HttpExchange& exchange, std::size_t count) = 0;
  // The handler aborts the exchange. The session then calls lost().
  virtual void break_off(HttpExchange& exchange) = 0;
  virtual void close_after(HttpExchange& exchange) = 0;
  // Returns true if the connection serves only this exchange, so that another protocol may follow a response with code 101.
  virtual bool can_switch_protocols() const { return false; }
  // Checks whether the peer has disconnected. Called on the connection's executor.
  virtual bool peer_gone() const noexcept { return false; }
  // The handler's coroutine has ended. The exchange may have been detached before.
  virtual void handler_ended(HttpExchange& exchange) = 0;
};

struct RequestHead {
  std::string method;
  std::string target;
  int major = 1;
  Headers headers;
  std::optional<std::uint64_t> content_length;
};

struct ResponseHead {
  int code = 0;
  Headers headers;
  std::optional<std::uint64_t> content_length;
  bool has_body = true;  // false: the response has no body
};

class HttpExchange final : public Exchange, public FrontProxyPeer, public std::enable_shared_from_this<HttpExchange> {
 public:
  using Clock = std::chrono::steady_clock;
  HttpExchange(RequestHead request, std::shared_ptr<const PeerInfo> peer, const HttpLimits& limits, StreamPort& port);
  ~HttpExchange() override;

  // ---- Exchange
  std::string_view method() const noexcept override { return request_.method; }
  std::string_view target() const noexcept override { return request_.target; }
  int http_major() const noexcept override { return request_.major; }
  std::string_view header(std::string_view name) const noexcept override;
  const Headers& headers() const noexcept override { return request_.headers; }
  std::string_view remote_address() const noexcept override { return peer_->remote_address; }
  const PeerCertificate* peer_certificate() const noexcept override;
  bool peer_certificate_rejected() const noexcept override;
  const PeerCertificate* front_proxy_certificate() const noexcept override;
  Task<Result<std::string>> read_body(std::size_t max_bytes) override;
  Task<Result<std::string>> read_body_some() override;
  void add_response_header(std::string name, std::string value) override;
  void set_response_header(std::string name, std::string value) override;
  void set_compressible(bool compressible) override { compressible_ = compressible; }
  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override;
  Task<Status> start(int code, std::string_view content_type) override;
  Task<Status> write(std::vector<SharedBytes> chunks) override;
  Task<void> finish() override;
  Task<Status> switch_protocols(std::string_view protocol) override;
  Task<std::string> read_some() override;
  bool started() const noexcept override { return response_.code != 0; }
  int response_code() const noexcept override { return response_.code; }
  std::uint64_t add_close_callback(std::function<void()> callback) override;
  void remove_close_callback(std::uint64_t id) noexcept override { close_callbacks_.remove(id); }
  void drop_close_callbacks() noexcept { close_callbacks_.clear(); }
  bool closed() const noexcept override { return closed_; }
  void close_connection_after() override;
  void abort() override;
  bool peer_gone() const noexcept override;

  // ---- for the session
  const RequestHead& request() const noexcept { return request_; }
  const ResponseHead& response_head() const noexcept { return response_; }
  bool head_sent() const noexcept { return head_sent_; }
  // True if the bytes in the queue are the last ones of the response.
  bool output_ended() const noexcept { return output_ended_; }
  std::size_t output_size() const noexcept { return output_.size(); }
  // Moves exactly `count` queued bytes to `out`. Resumes a writer that waits for room.
  void take(std::string& out, std::size_t count);
  void body_arrived(std::string_view bytes);
  void body_ended();
  bool body_complete() const noexcept { return body_ended_; }
  std::size_t unread_body() const noexcept { return body_.size(); }
  // Drops the unread body bytes and returns their number.
  std::size_t drop_body();
  // The peer has disconnected or closed its direction of the connection. The first call notifies the handler.
  void peer_closed();
  // The connection or stream has ended: does what peer_closed() does, drops the output, and makes all waiting calls return.
  void lost();
  // The response has been sent completely. The session no longer uses the exchange.
  void detach();
  // Checks the timeouts. If no body bytes have arrived in time, the waiting read returns kTimeout. Returns true if the peer has not read
  // the output in time; the session must then abort the exchange.
  bool stalled(Clock::time_point now);
  void handler_ended();
  // The ID of the HTTP/2 stream.
  std::int32_t id = 0;
  // Used by an HTTP/2 session: true while the stream's data provider waits for output_ready().
  bool parked = false;

 private:
  enum class Compression { kUndecided, kHeld, kOn, kOff };

  // Waits until body bytes have arrived or the body has ended. Errors: kTimeout.
  Task<Status> wait_for_body();
  bool accepts_gzip() const noexcept;
  bool may_compress(bool streamed) const noexcept;
  void begin_response(int code, std::string_view content_type);
  void send_head(std::optional<std::uint64_t> content_length);
  void begin_gzip();
  Task<void> compress(std::vector<SharedBytes> chunks);
  // Waits while more than the write window is unsent. Returns false if nothing can be sent any more.
  Task<bool> wait_for_room();
  void end_output();
  void queue(SharedBytes chunk);
  Status gone() const;
  void abort_here();

  RequestHead request_;
  std::shared_ptr<const PeerInfo> peer_;
  const HttpLimits& limits_;
  StreamPort* port_;                 // null after detach() or lost()
  std::weak_ptr<StreamPort> owner_;  // the session, which is notified when the handler ends
  const OriginExecutor origin_;

  std::string body_;
  bool body_ended_ = false;
  bool body_wanted_ = false;
  bool body_timed_out_ = false;
  bool switched_ = false;  // the connection was upgraded, so the peer may send nothing for an unlimited time
  Gate body_gate_;
  Clock::time_point body_since_{};

  ResponseHead response_;
  bool head_sent_ = false;
  bool output_ended_ = false;
  ChunkQueue output_;
  Gate room_;
  Clock::time_point output_since_{};
  std::optional<bool> compressible_;
  Compression compression_ = Compression::kUndecided;
  std::vector<SharedBytes> held_;  // the beginning of a compressible stream, until held_size_ exceeds HttpLimits::gzip_threshold
  std::size_t held_size_ = 0;
  std::unique_ptr<GzipStream> gzip_;

  std::atomic<bool> closed_ = false;  // the peer has disconnected or closed its direction; may be read on any thread
  bool lost_ = false;                 // nothing can be sent any more
  CloseCallbacks close_callbacks_;
};

}  // namespace backplane

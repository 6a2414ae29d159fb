// One HTTP request and its response, whatever the protocol version.
//
// Thread-safety: used on the executor of its connection only, but for abort(), which any thread may call, and for what is awaited: a
//                handler that has gone to another executor is back on the connection's when such a call ends.  It may end anywhere.
// Lifetime:      valid until the handler's task ends; the transport keeps it alive that long even when the peer has gone.
// Errors:        I/O errors are values; after the peer has gone every call returns kTimeout or does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/query.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class RequestContext;

using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

// A client certificate that the server has verified.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;  // in order
  std::string sha256_fingerprint;
  std::vector<std::string> user_ids = {};  // of the subject: values of 1.3.6.1.4.1.57683.2, in order
  // Subject alternative names, in order; IP addresses as text.
  std::vector<std::string> dns_names = {};
  std::vector<std::string> email_addresses = {};
  std::vector<std::string> ip_addresses = {};
  std::vector<std::string> uris = {};
  std::string serial_number = {};  // upper-case hexadecimal digits
  std::string issuer = {};         // RFC 2253
  std::chrono::system_clock::time_point not_after = {};
};

class Exchange;

// A callback that is registered with an Exchange while this object lives.  Movable; belongs to the exchange's executor.
class CloseSubscription {
 public:
  CloseSubscription() noexcept = default;
  CloseSubscription(Exchange& exchange, std::uint64_t id) noexcept : exchange_(&exchange), id_(id) {}
  CloseSubscription(CloseSubscription&& other) noexcept : exchange_(std::exchange(other.exchange_, nullptr)), id_(other.id_) {}
  CloseSubscription& operator=(CloseSubscription&& other) noexcept;
  ~CloseSubscription() { cancel(); }
  // The callback is not called after this.
  void cancel() noexcept;

 private:
  Exchange* exchange_ = nullptr;
  std::uint64_t id_ = 0;
};

class Exchange {
 public:
  virtual ~Exchange();

  // ---- the request
  virtual std::string_view method() const noexcept = 0;  // upper case
  virtual std::string_view target() const noexcept = 0;  // as sent: path[?query]
  virtual int http_major() const noexcept = 0;           // 1 or 2
  // First value of a header, name without regard to case; empty when absent.
  virtual std::string_view header(std::string_view name) const noexcept = 0;
  virtual const Headers& headers() const noexcept = 0;
  virtual std::string_view remote_address() const noexcept = 0;  // "ip:port"
  // The verified client certificate, or null.  Unverified ones are never shown.
  virtual const PeerCertificate* peer_certificate() const noexcept = 0;
  // True when the client sent a certificate that did not verify (bad CA, expired): such a request is 401, not anonymous.
  virtual bool peer_certificate_rejected() const noexcept { return false; }
  // The whole body.  Errors: kRequestEntityTooLarge ("limit is N") past `max_bytes`; kTimeout when the peer stops sending.
  virtual Task<Result<std::string>> read_body(std::size_t max_bytes) = 0;
  // The next piece of the body, waited for; empty at its end.  The peer may send more only as pieces are taken, so a body of any size
  // passes in a window's memory.  One reader at a time, and not together with read_body().
  // Errors: kTimeout when the peer stops sending or goes away before the end; kInternalError where bodies are not streamed.
  virtual Task<Result<std::string>> read_body_some();

  // ---- the response: either respond() once, or start(), write()… and finish()
  // Adds a header to the response that is to come (filters use it).  After the head has been sent it does nothing.
  virtual void add_response_header(std::string name, std::string value) = 0;
  // Sets a response header to one value; values that were set or added before are removed.
  virtual void set_response_header(std::string name, std::string value) = 0;
  // Sends head and body; Content-Length is set.  HEAD sends no body.  Returns when the bytes are with the transport.
  virtual Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) = 0;
  // Sends the head of a streamed body (chunked on HTTP/1.1).
  virtual Task<Status> start(int code, std::string_view content_type) = 0;
  // Whether the body may be gzipped for a client that accepts it (default no; watches never are).
  virtual void set_compressible(bool compressible) = 0;
  // Queues body bytes and waits while more than the transport's window is unsent (back-pressure).
  // Errors: kTimeout when the peer has gone or does not read.
  virtual Task<Status> write(std::vector<SharedBytes> chunks) = 0;
  virtual Task<void> finish() = 0;
  // Leaves HTTP: sends 101 with `Upgrade: protocol` and the response headers set so far.  From then on write() sends bytes as they are,
  // read_some() gives those of the peer, and finish() ends the connection.
  // Errors: kBadRequest where there is no connection of one's own to leave it on (HTTP/2, calls from inside).
  virtual Task<Status> switch_protocols(std::string_view protocol);
  // Some bytes, waited for; empty when the peer sends no more.  One reader at a time, after switch_protocols().
  virtual Task<std::string> read_some();
  // Head sent (by anyone)?
  virtual bool started() const noexcept = 0;
  // Code sent, 0 before.
  virtual int response_code() const noexcept = 0;

  // ---- the connection
  // `callback` runs once, on the executor, when the peer goes away or the exchange is aborted before the response is complete; unless the
  // subscription has been destroyed before.  It is never called inside on_close().  Any number of subscriptions at once; callbacks run in
  // the order of their subscriptions.
  [[nodiscard]] CloseSubscription on_close(std::function<void()> callback) {
    return CloseSubscription(*this, add_close_callback(std::move(callback)));
  }
  virtual bool closed() const noexcept = 0;
  // Looks at the connection now, for a handler that keeps its executor busy and would not run the callback.  A system call: call it seldom.
  // A client that has reset its HTTP/2 stream and keeps the connection is not detected.  Exchanges without a connection return closed().
  virtual bool peer_gone() const noexcept { return closed(); }
  // After this response the connection is closed (HTTP/1.1: Connection: close; HTTP/2: GOAWAY).
  virtual void close_connection_after() = 0;
  // Breaks the exchange off at once: HTTP/1.1 closes the connection, HTTP/2 resets the stream.  Any thread.
  virtual void abort() = 0;

  // ---- for CloseSubscription and for exchanges in front of this one; handlers call on_close()
  // The number that removes the callback; never 0.
  virtual std::uint64_t add_close_callback(std::function<void()> callback) = 0;
  // Without effect for a callback that has run or was removed.
  virtual void remove_close_callback(std::uint64_t id) noexcept = 0;
};

inline void CloseSubscription::cancel() noexcept {
  if (Exchange* const exchange = std::exchange(exchange_, nullptr)) exchange->remove_close_callback(id_);
}
inline CloseSubscription& CloseSubscription::operator=(CloseSubscription&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  exchange_ = std::exchange(other.exchange_, nullptr);
  id_ = other.id_;
  return *this;
}

class HttpHandler {
 public:
  virtual ~HttpHandler();
  // Answers the exchange.  Exceptions are fenced by the outermost filter, which answers 500.
  virtual Task<void> handle(RequestContext& context, Exchange& exchange) = 0;
};

}  // namespace BACKPLANE_API

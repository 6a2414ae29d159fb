// One HTTP request and its response, for HTTP/1.1, HTTP/2 and in-process calls.
//
// Thread-safety: used only on the executor of the exchange's connection, except for abort(), which any thread may call. A coroutine that
//                has switched to another executor switches back (resume_on) before it uses the exchange. The handler's coroutine may end on
//                any executor.
// Lifetime:      valid until the handler's task ends, even if the peer has closed the connection.
// Errors:        I/O errors are values; after the peer has closed the connection every call returns kTimeout or does nothing.
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

// Name and value. Names are compared without regard to case.
using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

// A verified client certificate.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;  // O values of the subject, in order
  // SHA-256 of the DER form, hexadecimal digits.
  std::string sha256_fingerprint;
  std::vector<std::string> user_ids = {};  // values of 1.3.6.1.4.1.57683.2 in the subject, in order
  // Subject alternative names, in order; IP addresses in text form.
  std::vector<std::string> dns_names = {};
  std::vector<std::string> email_addresses = {};
  std::vector<std::string> ip_addresses = {};
  std::vector<std::string> uris = {};
  std::string serial_number = {};  // upper-case hexadecimal digits
  std::string issuer = {};         // RFC 2253 text
  std::chrono::system_clock::time_point not_after = {};
};

class Exchange;

// A callback registered with Exchange::on_close(). Destroying it removes the callback. Movable; used on the exchange's executor.
class CloseSubscription {
 public:
  // Has no callback.
  CloseSubscription() noexcept = default;
  CloseSubscription(Exchange& exchange, std::uint64_t id) noexcept : exchange_(&exchange), id_(id) {}
  CloseSubscription(CloseSubscription&& other) noexcept : exchange_(std::exchange(other.exchange_, nullptr)), id_(other.id_) {}
  CloseSubscription& operator=(CloseSubscription&& other) noexcept;
  ~CloseSubscription() { cancel(); }
  // Removes the callback. The callback is not called afterwards.
  void cancel() noexcept;

 private:
  Exchange* exchange_ = nullptr;
  std::uint64_t id_ = 0;
};

// Handlers receive an Exchange by reference. Filters wrap it (forwarding_exchange.hpp).
class Exchange {
 public:
  virtual ~Exchange();

  // ---- the request
  // Returned views into the request are valid as long as the exchange.
  virtual std::string_view method() const noexcept = 0;  // upper case
  virtual std::string_view target() const noexcept = 0;  // the request target as sent: path[?query]
  virtual int http_major() const noexcept = 0;           // 1 or 2
  // The first value of a header; the name is compared without regard to case. Empty if absent.
  virtual std::string_view header(std::string_view name) const noexcept = 0;
  // All request headers, in the order received.
  virtual const Headers& headers() const noexcept = 0;
  virtual std::string_view remote_address() const noexcept = 0;  // "ip:port"
  // The verified client certificate, or null. A certificate that did not verify is never returned.
  virtual const PeerCertificate* peer_certificate() const noexcept = 0;
  // True if the client sent a certificate that did not verify (unknown CA, expired): the request gets 401 and does not count as
  // anonymous.
  virtual bool peer_certificate_rejected() const noexcept { return false; }
  // Reads the whole body.
  // Errors: kRequestEntityTooLarge ("limit is N") past `max_bytes`; kTimeout if the peer stops sending.
  virtual Task<Result<std::string>> read_body(std::size_t max_bytes) = 0;
  // Waits for the next part of the body; returns an empty string at the end of the body. The peer sends more only as parts are read, so
  // memory use stays within one flow-control window. Only one reader at a time. Must not be combined with read_body().
  // Errors: kTimeout if the peer stops sending, or closes the connection before the end of the body; kInternalError if the exchange does
  // not stream bodies.
  virtual Task<Result<std::string>> read_body_some();

  // ---- the response: either respond() once, or start(), write()… and finish()
  // Adds a response header. Without effect after the head has been sent.
  virtual void add_response_header(std::string name, std::string value) = 0;
  // Replaces all values of a response header by one. Without effect after the head has been sent.
  virtual void set_response_header(std::string name, std::string value) = 0;
  // Sends head and body with Content-Length. A response to HEAD has no body. Returns when the transport has accepted the bytes.
  virtual Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) = 0;
  // Sends the head of a streamed body (chunked in HTTP/1.1).
  virtual Task<Status> start(int code, std::string_view content_type) = 0;
  // Whether the body may be compressed with gzip if the client accepts it. Default: no. Watches are never compressed.
  virtual void set_compressible(bool compressible) = 0;
  // Queues `chunks` and waits while more than the transport's window is unsent (back-pressure).
  // Errors: kTimeout if the peer has closed the connection or does not read.
  virtual Task<Status> write(std::vector<SharedBytes> chunks) = 0;
  // Ends a streamed body.
  virtual Task<void> finish() = 0;
  // Sends 101 with `Upgrade: protocol` and the response headers set so far. Afterwards write() sends raw bytes, read_some() returns raw
  // bytes of the peer, and finish() closes the connection.
  // Errors: kBadRequest if the exchange does not own a connection (HTTP/2, in-process calls).
  virtual Task<Status> switch_protocols(std::string_view protocol);
  // Waits for bytes after switch_protocols(); returns an empty string when the peer has closed its side. Only one reader at a time.
  virtual Task<std::string> read_some();
  // True once the head has been sent, by this handler or by a filter.
  virtual bool started() const noexcept = 0;
  // The status code that was sent; 0 before the head has been sent.
  virtual int response_code() const noexcept = 0;

  // ---- the connection
  // Calls `callback` once, on the exchange's executor, if the peer closes the connection or the exchange is aborted before the response is
  // complete. Destroying the CloseSubscription removes the callback. on_close() itself never calls it. Callbacks run in the order of their
  // registration.
  [[nodiscard]] CloseSubscription on_close(std::function<void()> callback) {
    return CloseSubscription(*this, add_close_callback(std::move(callback)));
  }
  // True after the peer has closed the connection, or after abort().
  virtual bool closed() const noexcept = 0;
  // Checks the connection now, for a handler that occupies its executor so long that no callback can run. Costs a system call. Does not
  // detect a client that has reset its HTTP/2 stream and keeps the connection open. Exchanges without a connection return closed().
  virtual bool peer_gone() const noexcept { return closed(); }
  // Closes the connection after this response (HTTP/1.1: Connection: close; HTTP/2: GOAWAY).
  virtual void close_connection_after() = 0;
  // Aborts the exchange at once: HTTP/1.1 closes the connection, HTTP/2 resets the stream. Any thread.
  virtual void abort() = 0;

  // ---- for CloseSubscription and for exchanges that wrap this one; handlers call on_close()
  //
  // Registers a callback; the result is the id for remove_close_callback(), never 0.
  virtual std::uint64_t add_close_callback(std::function<void()> callback) = 0;
  // Removes the callback. Without effect if it has run or has been removed.
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

// Handles the requests of a path (Host::handle).
//
//   class Greeter final : public HttpHandler {
//    public:
//     Task<void> handle(RequestContext& context, Exchange& exchange) override {
//       std::vector<SharedBytes> body;
//       body.emplace_back("Hello, " + context.user->name + "\n");
//       co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
//     }
//   };
class HttpHandler {
 public:
  virtual ~HttpHandler();
  // Sends the response. If it throws, the outermost filter sends 500, or aborts a response that has begun.
  virtual Task<void> handle(RequestContext& context, Exchange& exchange) = 0;
};

}  // namespace BACKPLANE_API

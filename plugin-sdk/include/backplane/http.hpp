// One HTTP request and its response, whatever the protocol version.
//
// Thread-safety: used on the executor of its connection only, but for abort(), which any thread may call, and for what is awaited: a
//                handler that has gone to another executor is back on the connection's when such a call ends.  It may end anywhere.
// Lifetime:      valid until the handler's task ends; the transport keeps it alive that long even when the peer has gone.
// Errors:        I/O errors are values; after the peer has gone every call returns kTimeout or does nothing.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/bytes.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class RequestContext;

using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;  // in order
  std::string sha256_fingerprint;
  std::vector<std::string> user_ids = {};  // of the subject: values of 1.3.6.1.4.1.57683.2, in order
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
  // Replaces or sets.
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
  // `callback` runs once, on the executor, when the peer goes away or the exchange is aborted before the response is complete.
  // Replaces an earlier callback; an empty one removes it.
  virtual void on_close(std::function<void()> callback) = 0;
  virtual bool closed() const noexcept = 0;
  // After this response the connection is closed (HTTP/1.1: Connection: close; HTTP/2: GOAWAY).
  virtual void close_connection_after() = 0;
  // Breaks the exchange off at once: HTTP/1.1 closes the connection, HTTP/2 resets the stream.  Any thread.
  virtual void abort() = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler();
  // Answers the exchange.  Exceptions are fenced by the outermost filter, which answers 500.
  virtual Task<void> handle(RequestContext& context, Exchange& exchange) = 0;
};

// ---- query strings
// key=value pairs in order, percent-decoded as net/url does; a bad escape is an error there (kBadRequest `invalid URL escape "%zz"`).
using Query = std::vector<std::pair<std::string, std::string>>;
Result<Query> parse_query(std::string_view raw);
std::string_view query_get(const Query& query, std::string_view key) noexcept;  // first value, empty when absent
bool query_has(const Query& query, std::string_view key) noexcept;
std::string percent_decode(std::string_view text, bool plus_is_space, bool* ok = nullptr);

}  // namespace BACKPLANE_API

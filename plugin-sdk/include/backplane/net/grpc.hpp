// gRPC calls over an HttpClient: unary calls, and bidirectional streams of messages.  Messages are bytes: the caller serializes them.
//
// The client (Host::make_client) uses HTTP/2 over TLS. With ClientConfig::http2_prior_knowledge it uses HTTP/2 without TLS over http:// or
// unix://. Messages are not compressed.
//
// Thread-safety: unary() and open_stream() on any executor. A Stream has one reader and one writer at a time; cancel() from any thread.
// Lifetime:      a stream shares ownership of its client.  The destructor cancels the call unless it has ended.
// Errors:        CallStatus.  kUnavailable if the server cannot be reached; never_sent is then true if no server has begun to process the
//                call. kDeadlineExceeded if the deadline has passed here or at the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {
namespace grpc {

// google.rpc.Code; the enumerators have the values of that enumeration.
enum class Code : unsigned char {
  kOk,
  kCancelled,
  kUnknown,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,
  kFailedPrecondition,
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kDataLoss,
  kUnauthenticated,
};
// The name in gRPC's Go package: "DeadlineExceeded".
std::string_view code_name(Code code) noexcept;

// The result of a call.
struct CallStatus {
  // An ok status.
  CallStatus() = default;
  CallStatus(Code code_in, std::string message_in, bool never_sent_in = false)
      : code(code_in), message(std::move(message_in)), never_sent(never_sent_in) {}
  bool ok() const noexcept { return code == Code::kOk; }

  Code code = Code::kOk;
  std::string message;      // the server's text (grpc-message), or the reason why there is no response
  bool never_sent = false;  // true: no server has begun to process the call, so it may be repeated even if it is not idempotent
};
// Returns the text that gRPC's Go package prints: `rpc error: code = Unavailable desc = …`.
std::string to_text(const CallStatus& status);

// Limits and metadata of one call.
struct CallOptions {
  using TimePoint = std::chrono::steady_clock::time_point;
  TimePoint deadline = TimePoint::max();  // sent to the server as grpc-timeout; max(): no deadline
  TimePoint send_by = TimePoint::max();   // HttpCall::send_by
  Headers metadata;                       // header fields of the request, names in lower case
  std::size_t max_message_bytes = std::size_t{4}
                                  << 20;      // the maximum size of a received message; a larger one ends the call with kResourceExhausted
  std::shared_ptr<CallBreaker> breaker = {};  // set it in order to be able to abort the call
};

// The end of a unary call.
struct UnaryAnswer {
  CallStatus status;
  std::string message;  // the response message, if status.ok()
  Headers metadata;     // header fields and trailers of the response
};

// Makes a call with one message in each direction. Resumes when the call has ended. `method`: "/package.Service/Method".
Task<UnaryAnswer> unary(std::shared_ptr<HttpClient> client, std::string method, std::string request, CallOptions options = {});

// One call with any number of messages in both directions.
class Stream {
 public:
  virtual ~Stream();
  // Queues a message, and waits while more than about 256 KiB are unsent.  Returns false if the call has ended; the message has then
  // possibly not been sent.
  virtual Task<bool> write(std::string message) = 0;
  // Half-closes the call: no more messages follow. Idempotent; any thread.
  virtual void writes_done() = 0;
  // Waits for the next message. nullopt: the call has ended, and status() returns the result. At most the flow-control window of unread
  // messages is received.
  virtual Task<std::optional<std::string>> read() = 0;
  // The result of the call. Precondition: read() has returned nullopt.
  virtual const CallStatus& status() const noexcept = 0;
  // Ends the call with kCancelled. Without effect if the call has ended. Any thread.
  virtual void cancel() = 0;
};

// Starts a call on the current executor and returns without waiting for the server. The stream reports errors of the call.
std::shared_ptr<Stream> open_stream(std::shared_ptr<HttpClient> client, std::string method, CallOptions options = {});

}  // namespace grpc
}  // namespace BACKPLANE_API

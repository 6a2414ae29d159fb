// gRPC calls over an HttpClient: unary calls, and bidirectional streams of messages.  Messages are bytes: the caller serializes them.
//
// The client (Host::make_client) uses HTTP/2 over TLS; with ClientConfig::http2_prior_knowledge it uses HTTP/2 without TLS over http:// or
// unix://.
// Messages are not compressed.
// Thread-safety: unary() and open_stream() on any executor; a Stream: one reader and one writer at a time, cancel() from any thread.
// Lifetime:      a stream owns a reference to its client.  Destroying it cancels the call unless it has ended.
// Errors:        CallStatus.  A server that cannot be reached is kUnavailable, with never_sent if it cannot have begun with the call; a
//                deadline that has passed here or at the server is kDeadlineExceeded.
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

// google.rpc.Code, by its numbers.
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
  // Success.
  CallStatus() = default;
  CallStatus(Code code_in, std::string message_in, bool never_sent_in = false)
      : code(code_in), message(std::move(message_in)), never_sent(never_sent_in) {}
  bool ok() const noexcept { return code == Code::kOk; }

  Code code = Code::kOk;
  std::string message;      // the server's text (grpc-message), or the reason why there is no response
  bool never_sent = false;  // true: no server has begun to process the call, so it may be repeated even if it is not idempotent
};
// As gRPC's Go package prints it: `rpc error: code = Unavailable desc = …`.
std::string to_text(const CallStatus& status);

// Limits and metadata of one call.
struct CallOptions {
  using TimePoint = std::chrono::steady_clock::time_point;
  TimePoint deadline = TimePoint::max();                 // sent to the server as grpc-timeout; max(): none
  TimePoint send_by = TimePoint::max();                  // HttpCall::send_by
  Headers metadata;                                      // header fields of the request, names in lower case
  std::size_t max_message_bytes = std::size_t{4} << 20;  // of a received message; a larger one ends the call with kResourceExhausted
  std::shared_ptr<CallBreaker> breaker = {};             // set to be able to abort the call from outside
};

// The end of a unary call.
struct UnaryAnswer {
  CallStatus status;
  std::string message;  // if status.ok()
  Headers metadata;     // header fields and trailers of the response
};

// Makes a call with one message in each direction, and resumes when it has ended. `method`: "/package.Service/Method".
Task<UnaryAnswer> unary(std::shared_ptr<HttpClient> client, std::string method, std::string request, CallOptions options = {});

// One call with any number of messages in both directions.
class Stream {
 public:
  virtual ~Stream();
  // Queues a message, and waits while more than about 256 KiB are unsent.  False: the call has ended, and the message may not have been
  // sent.
  virtual Task<bool> write(std::string message) = 0;
  // Half-closes the call: no more messages follow. Idempotent; any thread.
  virtual void writes_done() = 0;
  // Waits for the next message. nullopt: the call has ended, and status() has the result. Messages beyond the flow-control window are not
  // fetched before they are read.
  virtual Task<std::optional<std::string>> read() = 0;
  // The result of the call. Precondition: read() has returned nullopt.
  virtual const CallStatus& status() const noexcept = 0;
  // Ends the call with kCancelled; without effect after its end. Any thread.
  virtual void cancel() = 0;
};

// Starts a call on the current executor and returns without waiting for the server. Errors of the call are reported by the stream.
std::shared_ptr<Stream> open_stream(std::shared_ptr<HttpClient> client, std::string method, CallOptions options = {});

}  // namespace grpc
}  // namespace BACKPLANE_API

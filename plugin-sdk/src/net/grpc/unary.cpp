#include "net/grpc/calls.hpp"
#include "net/grpc/frames.hpp"
#include "net/grpc/status.hpp"

namespace backplane::grpc {
namespace {

// The only message of a response.
class OnlyMessage {
 public:
  explicit OnlyMessage(std::size_t max_bytes) : frames_(max_bytes) {}
  // Not ok: the call has failed, and the rest of the response is ignored.
  CallStatus add(std::string bytes) {
    frames_.add(std::move(bytes));
    if (!message_) message_ = frames_.take();
    if (frames_.problem()) return *frames_.problem();
    if (message_ && frames_.has_rest()) return {Code::kInternal, "cardinality violation: the answer to a unary call has several messages"};
    return {};
  }
  // `status`: of the server.
  CallStatus end(CallStatus status) const {
    if (status.ok() && !message_) return {Code::kInternal, "cardinality violation: the answer to a unary call has no message"};
    return status;
  }
  std::string take() { return std::move(*message_); }

 private:
  FrameReader frames_;
  std::optional<std::string> message_;
};

Headers metadata_of(const HttpAnswer& answer) {
  Headers out;
  out.reserve(answer.headers().size() + answer.trailers().size());
  out.insert(out.end(), answer.headers().begin(), answer.headers().end());
  out.insert(out.end(), answer.trailers().begin(), answer.trailers().end());
  return out;
}

}  // namespace

HttpCall call_of(std::string method, CallOptions options) {
  HttpCall call;
  call.method = "POST";
  call.target = std::move(method);
  call.headers = std::move(options.metadata);
  call.headers.reserve(call.headers.size() + 5);  // shared by this coroutine and the client
  call.headers.emplace_back("te", "trailers");
  call.headers.emplace_back("content-type", "application/grpc");
  if (options.deadline != CallOptions::TimePoint::max())
    call.headers.emplace_back("grpc-timeout", timeout_text(options.deadline - std::chrono::steady_clock::now()));
  call.deadline = options.deadline;
  call.send_by = options.send_by;
  call.breaker = std::move(options.breaker);
  return call;
}

// One coroutine, because a frame for each part would cost more than the part.
Task<UnaryAnswer> unary(std::shared_ptr<HttpClient> client, std::string method, std::string request, CallOptions options) {
  OnlyMessage message(options.max_message_bytes);
  HttpCall call = call_of(std::move(method), std::move(options));
  call.body = frame_of(request);
  auto calling = client->call(std::move(call));
  Result<std::unique_ptr<HttpAnswer>> head = co_await std::move(calling);
  UnaryAnswer out;
  if (!head.ok()) {
    out.status = status_of_failure(head.status());
    co_return out;
  }
  const std::unique_ptr<HttpAnswer> answer = std::move(*head);
  const bool carries = carries_messages(*answer);
  for (bool more = true; more && out.status.ok();) {
    auto reading = answer->read();
    Result<std::string> piece = co_await std::move(reading);
    if (!piece.ok()) {
      out.status = status_of_failure(piece.status());
    } else if (piece->empty()) {
      more = false;
      out.status = message.end(status_of(*answer));
    } else if (carries) {
      out.status = message.add(std::move(*piece));
    }
  }
  if (out.status.ok()) out.message = message.take();
  out.metadata = metadata_of(*answer);
  co_return out;
}

}  // namespace backplane::grpc

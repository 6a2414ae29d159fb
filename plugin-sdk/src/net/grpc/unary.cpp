#include "net/grpc/calls.hpp"
#include "net/grpc/frames.hpp"
#include "net/grpc/status.hpp"

namespace backplane::grpc {
namespace {

// The only message of the answer.  Nothing: `status` says why, or the server has sent none.
Task<std::optional<std::string>> read_message(HttpAnswer& answer, std::size_t max_bytes, CallStatus& status) {
  FrameReader frames(max_bytes);
  std::optional<std::string> message;
  for (;;) {
    auto reading = answer.read();
    Result<std::string> piece = co_await std::move(reading);
    if (!piece.ok()) {
      status = status_of_failure(piece.status());
      co_return std::nullopt;
    }
    if (piece->empty()) break;
    if (!carries_messages(answer)) continue;
    frames.add(std::move(*piece));
    if (!message) message = frames.take();
    if (message && frames.has_rest()) status = {Code::kInternal, "cardinality violation: the answer to a unary call has several messages"};
    if (frames.problem()) status = *frames.problem();
    if (!status.ok()) co_return std::nullopt;
  }
  status = status_of(answer);
  if (status.ok() && !message) status = {Code::kInternal, "cardinality violation: the answer to a unary call has no message"};
  co_return message;
}

}  // namespace

HttpCall call_of(std::string method, CallOptions options) {
  HttpCall call;
  call.method = "POST";
  call.target = std::move(method);
  call.headers = std::move(options.metadata);
  call.headers.emplace_back("te", "trailers");
  call.headers.emplace_back("content-type", "application/grpc");
  if (options.deadline != CallOptions::TimePoint::max())
    call.headers.emplace_back("grpc-timeout", timeout_text(options.deadline - std::chrono::steady_clock::now()));
  call.deadline = options.deadline;
  call.send_by = options.send_by;
  call.breaker = std::move(options.breaker);
  return call;
}

Task<UnaryAnswer> unary(std::shared_ptr<HttpClient> client, std::string method, std::string request, CallOptions options) {
  const std::size_t max_bytes = options.max_message_bytes;
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
  auto reading = read_message(*answer, max_bytes, out.status);
  std::optional<std::string> message = co_await std::move(reading);
  if (out.status.ok()) out.message = std::move(*message);
  out.metadata = answer->headers();
  const Headers& trailers = answer->trailers();
  out.metadata.insert(out.metadata.end(), trailers.begin(), trailers.end());
  co_return out;
}

}  // namespace backplane::grpc

#include <algorithm>
#include <iterator>
#include <limits>

#include "net/grpc/calls.hpp"
#include "net/grpc/frames.hpp"
#include "net/grpc/status.hpp"

namespace backplane::grpc {
namespace {

AnswerLimit limit_of(std::size_t max_message_bytes) noexcept {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() - kFramePrefix;
  return {std::min(max_message_bytes, kMost) + kFramePrefix, &length_of_frame};
}

// Returns the only message of the response; nullopt: `status` contains the reason. An error in the message takes precedence over the status
// in the trailers.
std::optional<std::string> only_message(WholeAnswer& response, std::size_t max_message_bytes, CallStatus& status) {
  FrameReader frames(max_message_bytes);
  const ResponseFields fields{response.code, response.headers, response.trailers};
  if (carries_messages(fields)) frames.add(std::move(response.body));
  std::optional<std::string> message = frames.take();
  if (frames.problem()) {
    status = *frames.problem();
  } else if (message && frames.has_rest()) {
    status = {Code::kInternal, "cardinality violation: the answer to a unary call has several messages"};
  } else {
    status = status_of(fields);
    if (status.ok() && !message) status = {Code::kInternal, "cardinality violation: the answer to a unary call has no message"};
  }
  return status.ok() ? std::move(message) : std::nullopt;
}

UnaryAnswer answer_of(WholeAnswer response, std::size_t max_message_bytes) {
  UnaryAnswer out;
  if (auto message = only_message(response, max_message_bytes, out.status)) out.message = std::move(*message);
  out.metadata = std::move(response.headers);
  out.metadata.insert(out.metadata.end(), std::make_move_iterator(response.trailers.begin()),
                      std::make_move_iterator(response.trailers.end()));
  return out;
}

}  // namespace

HttpCall call_of(std::string&& method, CallOptions&& options) {
  HttpCall call;
  call.method = "POST";
  call.target = std::move(method);
  call.headers = std::move(options.metadata);
  call.headers.reserve(call.headers.size() + 5);  // room for the headers that this function and the client add
  call.headers.emplace_back("te", "trailers");
  call.headers.emplace_back("content-type", "application/grpc");
  if (options.deadline != CallOptions::TimePoint::max())
    call.headers.emplace_back("grpc-timeout", timeout_text(options.deadline - std::chrono::steady_clock::now()));
  call.deadline = options.deadline;
  call.send_by = options.send_by;
  call.breaker = std::move(options.breaker);
  return call;
}

namespace {

HttpCall call_of(std::string&& method, std::string&& request, CallOptions&& options) {
  HttpCall call = call_of(std::move(method), std::move(options));
  call.body = frame_of(std::move(request));
  return call;
}

}  // namespace

// Only one coroutine, because separate frames for its parts would cost more than the parts.
Task<UnaryAnswer> unary(std::shared_ptr<HttpClient> client, std::string method, std::string request, CallOptions options) {
  const std::size_t max_message_bytes = options.max_message_bytes;
  auto calling = client->call_whole(call_of(std::move(method), std::move(request), std::move(options)), limit_of(max_message_bytes));
  Result<WholeAnswer> response = co_await std::move(calling);
  if (response.ok()) co_return answer_of(std::move(*response), max_message_bytes);
  UnaryAnswer failed;
  failed.status = status_of_failure(response.status());
  co_return failed;
}

}  // namespace backplane::grpc

#include <algorithm>

#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

bool AnswerLimit::passed_by(std::string_view beginning) const noexcept {
  const std::size_t length = length_of != nullptr ? length_of(beginning) : 0;
  return length > body_bytes || beginning.size() > (length != 0 ? length : body_bytes);
}

Task<Result<WholeAnswer>> HttpClient::call_whole(HttpCall call, AnswerLimit limit) {
  if (call.upgrade) co_return bad_request("call_whole() does not support upgrades");
  auto calling = this->call(std::move(call));
  auto head = co_await std::move(calling);
  if (!head.ok()) co_return std::move(head).status();
  const std::unique_ptr<HttpAnswer> answer = std::move(*head);
  WholeAnswer out;
  out.code = answer->code();
  out.headers = answer->headers();
  for (;;) {
    auto reading = answer->read();
    Result<std::string> piece = co_await std::move(reading);
    if (!piece.ok()) co_return std::move(piece).status();
    if (piece->empty()) break;
    out.body += *piece;
    out.complete = !limit.passed_by(out.body);
    if (!out.complete) co_return out;
  }
  out.trailers = answer->trailers();
  co_return out;
}

}  // namespace BACKPLANE_API

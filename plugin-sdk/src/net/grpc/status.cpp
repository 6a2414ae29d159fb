#include "net/grpc/status.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "backplane/core/query.hpp"

namespace backplane::grpc {
namespace {

constexpr std::array<std::string_view, 17> kNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

std::string_view field(const Headers& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [name](const auto& each) { return each.first == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

// Returns the code of gRPC's table for responses without a grpc-status.
Code code_of_http(int code) {
  switch (code) {
    case 400:
      return Code::kInternal;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kUnavailable;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

std::string_view code_name(Code code) noexcept {
  const auto at = static_cast<std::size_t>(code);
  return at < kNames.size() ? kNames[at] : "Unknown";
}

std::string to_text(const CallStatus& status) {
  return "rpc error: code = " + std::string(code_name(status.code)) + " desc = " + status.message;
}

bool carries_messages(const ResponseFields& response) {
  return response.code == 200 && field(response.headers, "content-type").starts_with("application/grpc");
}

CallStatus status_of(const ResponseFields& response) {
  // A response without messages may have its trailers in the response head.
  const Headers& headers = field(response.trailers, "grpc-status").empty() ? response.headers : response.trailers;
  const std::string_view number = field(headers, "grpc-status");
  int code = -1;
  if (!number.empty() && std::from_chars(number.data(), number.data() + number.size(), code).ec == std::errc()) {
    const bool known = code >= 0 && code < static_cast<int>(kNames.size());
    return {known ? static_cast<Code>(code) : Code::kUnknown, percent_decode(field(headers, "grpc-message"), false)};
  }
  if (response.code != 200)
    return {code_of_http(response.code), "unexpected HTTP status code received from server: " + std::to_string(response.code)};
  if (!carries_messages(response)) {
    const std::string type(field(response.headers, "content-type"));
    return {Code::kUnknown, "transport: received unexpected content-type " + quoted(type)};
  }
  return {Code::kInternal, "server closed the stream without sending trailers"};
}

CallStatus status_of_failure(const Status& failed) {
  const bool unsent = never_sent(failed);
  const Code code = failed.reason() == Reason::kTimeout && !unsent ? Code::kDeadlineExceeded : Code::kUnavailable;
  return {code, failed.message(), unsent};
}

std::string timeout_text(std::chrono::steady_clock::duration left) {
  constexpr std::int64_t kMost = 99'999'999;
  const auto milliseconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 1);
  const bool fits = milliseconds <= kMost;
  std::array<char, 24> text;
  char* const end = std::to_chars(text.begin(), text.end(), fits ? milliseconds : std::min(milliseconds / 1000, kMost)).ptr;
  *end = fits ? 'm' : 'S';
  return std::string(text.data(), end + 1);
}

}  // namespace backplane::grpc

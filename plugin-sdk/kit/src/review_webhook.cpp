#include "backplane/kit/review_webhook.hpp"

#include <strings.h>

#include "backplane/core/json_access.hpp"
#include "backplane/host.hpp"
#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace kit BACKPLANE_API {
namespace {

using ReviewClock = std::chrono::steady_clock;

constexpr std::size_t kMostErrorText = 2048;  // of the body of a response that is not a metav1.Status

std::string_view header_text(const HttpAnswer& answer, const char* name) {
  for (const auto& [key, value] : answer.headers()) {
    if (strcasecmp(key.c_str(), name) == 0) return value;
  }
  return {};
}

// True for the errors of utilnet.IsConnectionReset and IsHTTP2ConnectionLost.
bool connection_lost(const Status& why) {
  const std::string& text = why.message();
  return text.find("connection reset by peer") != std::string::npos || text.find("http2: client connection lost") != std::string::npos;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Returns the error of errors.NewGenericServerResponse.
Status generic_error(int code, std::string_view server_message) {
  switch (code) {
    case 400:
      return bad_request("the server rejected our request for an unknown reason");
    case 401:
      return unauthorized("the server has asked for the client to provide credentials");
    case 403:
      return Status(403, Reason::kForbidden, std::string(server_message));
    case 404:
      return Status(404, Reason::kNotFound, "the server could not find the requested resource");
    case 405:
      return Status(405, Reason::kMethodNotAllowed, "the server does not allow this method on the requested resource");
    case 406:
      return Status(406, Reason::kNotAcceptable,
                    server_message.empty() || server_message == "unknown"
                        ? "the server was unable to respond with a content type that the client supports"
                        : std::string(server_message));
    case 409:
      return Status(409, Reason::kAlreadyExists, "the server reported a conflict");
    case 415:
      return Status(415, Reason::kUnsupportedMediaType, std::string(server_message));
    case 422:
      return Status(422, Reason::kInvalid, "the server rejected our request due to an error in our request");
    case 429:
      return Status(429, Reason::kTooManyRequests, "the server has received too many requests and has asked us to try again later");
    case 503:
      return Status(503, Reason::kServiceUnavailable, "the server is currently unable to handle the request");
    case 504:
      return Status(504, Reason::kTimeout,
                    "the server was unable to return a response in the time allotted, but may still be processing the request");
    default:
      break;
  }
  if (code >= 500) {
    return Status(code, Reason::kInternalError,
                  "an error on the server (" + backplane::quoted(server_message) + ") has prevented the request from succeeding");
  }
  return Status(code, Reason::kNone,
                "the server responded with the status code " + std::to_string(code) + " but did not return more information");
}

// Returns the metav1.Status in the body; if the body is not one, an error with the text for the code.
Status response_error(int code, std::string_view content_type, const std::string& body) {
  const bool text = content_type.empty() || content_type.starts_with("text/");
  Status error = generic_error(code, text ? trimmed(std::string_view(body).substr(0, kMostErrorText)) : "unknown");
  if (!body.starts_with('{')) return error;
  auto parsed = parse_json(body, json::storage_ptr(), nullptr);
  if (!parsed.ok() || !parsed->is_object()) return error;
  const Object& status = parsed->get_object();
  if (get_string(status, "kind") != "Status" || get_string(status, "status") != "Failure") return error;
  return Status(code, error.reason(), std::string(get_string(status, "message")));
}

// Returns the text of time.Duration's String() for a positive number of milliseconds.
std::string review_timeout_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  if (count < 1000) return std::to_string(count) + "ms";
  std::string out;
  if (count >= 3'600'000) out += std::to_string(count / 3'600'000) + "h";
  if (count >= 60'000) out += std::to_string(count / 60'000 % 60) + "m";
  out += std::to_string(count / 1000 % 60);
  if (count % 1000 == 0) return out + "s";
  std::string fraction = std::to_string(1000 + count % 1000).substr(1);
  while (fraction.ends_with('0')) fraction.pop_back();
  return out + "." + fraction + "s";
}

}  // namespace

std::string_view review_result(ReviewAttempt::End end) noexcept {
  static constexpr std::string_view kNames[] = {"success", "error", "timeout", "canceled"};
  return kNames[static_cast<std::size_t>(end)];
}

Result<std::shared_ptr<ReviewWebhook>> ReviewWebhook::make(Host& host, KubeconfigServer server, ReviewWebhookOptions options) {
  auto egress = EgressSelector::of(host);
  if (!egress.ok()) return std::move(egress).status();
  ClientConfig config = std::move(server.client);
  config.dial = (*egress)->dialer(EgressType::kControlPlane);
  config.connect_timeout = std::chrono::ceil<std::chrono::seconds>(options.timeout);
  config.call_timeout = options.timeout;
  config.user_agent = "kube-apiserver";
  const std::string address = config.server;
  auto client = host.make_client(std::move(config));
  if (!client.ok()) return std::move(client).status();
  std::string target = server.path + "?timeout=" + review_timeout_text(options.timeout);
  std::string url = address + target;
  return std::shared_ptr<ReviewWebhook>(new ReviewWebhook(count_certificate_flaws(std::move(*client), "apiserver_webhooks"), std::move(url),
                                                          std::move(target), std::move(server.headers), options));
}

Task<ReviewWebhook::Attempt> ReviewWebhook::attempt(const std::string& body, const ReviewDecoder& decode,
                                                    ReviewClock::time_point deadline) {
  const auto own_deadline = ReviewClock::now() + options_.timeout;
  Attempt out;
  const auto failed = [&](const Status& why) {
    const bool late = why.reason() == Reason::kTimeout;
    out.seen.end =
        !late ? ReviewAttempt::End::kError : (deadline < own_deadline ? ReviewAttempt::End::kCancelled : ReviewAttempt::End::kTimeout);
    out.may_be_repeated = connection_lost(why);
    out.answer = service_unavailable("Post " + backplane::quoted(url_) + ": " + why.message());
  };
  HttpCall call;
  call.method = "POST";
  call.target = target_;
  call.headers = headers_;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("Accept", "application/json, */*");
  call.body = body;
  call.deadline = std::min(own_deadline, deadline);
  auto calling = client_->call(std::move(call));
  auto head = co_await std::move(calling);
  if (!head.ok()) {
    failed(head.status());
    co_return out;
  }
  const std::unique_ptr<HttpAnswer> answer = std::move(*head);
  auto reading = read_all(*answer, options_.max_answer_bytes);
  auto text = co_await std::move(reading);
  if (!text.ok()) {
    failed(text.status());
    co_return out;
  }
  const int code = answer->code();
  out.seen.code = code;
  if (code >= 200 && code <= 206) {
    out.answer = decode(*text);
    out.seen.end = out.answer.ok() ? ReviewAttempt::End::kSuccess : ReviewAttempt::End::kError;
    co_return out;
  }
  Status error = response_error(code, header_text(*answer, "content-type"), *text);
  out.seen.end = code == 504 ? ReviewAttempt::End::kTimeout : ReviewAttempt::End::kError;
  const bool has_retry_after = (code == 429 || code >= 500) && !header_text(*answer, "retry-after").empty();
  out.may_be_repeated = has_retry_after || error.reason() == Reason::kInternalError || error.reason() == Reason::kTimeout ||
                        error.reason() == Reason::kTooManyRequests;
  out.answer = std::move(error);
  co_return out;
}

Task<Result<Object>> ReviewWebhook::post(std::string body, ReviewDecoder decode, ReviewClock::time_point deadline, ReviewObserver observe) {
  const auto alive = shared_from_this();
  for (int tries = 1;; ++tries) {
    const auto began = ReviewClock::now();
    auto trying = attempt(body, decode, deadline);
    Attempt made = co_await std::move(trying);
    made.seen.took = ReviewClock::now() - began;
    if (observe) observe(made.seen);
    if (!made.may_be_repeated || tries >= options_.retries.attempts) co_return std::move(made.answer);
    const auto pause = retry_pause(options_.retries, tries - 1);
    if (ReviewClock::now() + pause >= deadline) co_return std::move(made.answer);
    auto pausing = sleep_for(pause);
    co_await std::move(pausing);
  }
}

}  // namespace BACKPLANE_API
}  // namespace backplane

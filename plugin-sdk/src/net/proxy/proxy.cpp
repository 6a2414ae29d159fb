#include "backplane/net/proxy.hpp"

#include <charconv>

#include "net/proxy/bodies.hpp"
#include "net/proxy/headers.hpp"

namespace backplane::proxying {
namespace {

using Clock = std::chrono::steady_clock;
using Answer = std::unique_ptr<HttpAnswer>;

// A body or a response whose known length is at most this is forwarded in one part, which keeps its Content-Length and costs less.
constexpr std::uint64_t kWhole = 64 * 1024;

std::optional<std::uint64_t> length_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether to wait for a body. In HTTP/2, a body may be sent without a Content-Length; the proxy does not wait for one if the method usually
// has no body.
bool may_have_body(const Exchange& exchange) {
  if (!exchange.header("transfer-encoding").empty()) return true;
  const std::string_view length = exchange.header("content-length");
  if (!length.empty()) return length_in(length) != 0;
  const std::string_view method = exchange.method();
  return exchange.http_major() >= 2 && method != "GET" && method != "HEAD" && method != "OPTIONS";
}

bool is_refused_redirect(const HttpAnswer& answer, const ProxyCall& call) {
  return call.reject_redirects && answer.code() >= 300 && answer.code() <= 399 && !first_of(answer.headers(), "location").empty();
}

Clock::time_point deadline_of(const RequestContext& context, const ProxyCall& call) {
  Clock::time_point end = context.long_running ? Clock::time_point::max() : context.deadline;
  if (call.timeout.count() > 0) end = std::min(end, Clock::now() + call.timeout);
  return end;
}

// Returns a 500 without a reason, as upstream does for an error that is not an API status.
Status plain_error(std::string message) { return Status(500, Reason::kNone, std::move(message)); }

Status dial_error(const Status& why) {
  return why.reason() == Reason::kTooManyRequests ? why : plain_error("error dialing backend: " + why.message());
}

// One proxied request.
class ProxiedRequest {
 public:
  // Moves the target and the headers of `call`.
  ProxiedRequest(RequestContext& context, Exchange& exchange, ProxyCall& call)
      : context_(context), exchange_(exchange), call_(call), breaker_(std::make_shared<CallBreaker>()) {}
  ProxiedRequest(const ProxiedRequest&) = delete;
  ProxiedRequest& operator=(const ProxiedRequest&) = delete;
  ~ProxiedRequest() { cancel_subscription(); }

  Task<void> pass();
  Task<void> pass_upgrade();

 private:
  HttpCall outgoing(bool upgrade);
  Task<Status> add_body(HttpCall& out);
  Task<Result<Answer>> ask(HttpCall out);
  Task<void> fail(Status status);
  void begin_answer(const HttpAnswer& answer);
  Task<void> answer_with(Answer answer);
  Task<void> answer_whole(Answer answer);
  Task<void> answer_streamed(Answer answer);
  Task<Status> forward_body(HttpAnswer& answer, bool& broken);
  Task<void> tunnel(Answer answer, std::shared_ptr<TunnelBytes> bytes);
  void cancel_subscription() { closed_.cancel(); }

  RequestContext& context_;
  Exchange& exchange_;
  ProxyCall& call_;
  const std::shared_ptr<CallBreaker> breaker_;
  std::shared_ptr<RequestBody> body_;
  CloseSubscription closed_;
};

HttpCall ProxiedRequest::outgoing(bool upgrade) {
  HttpCall out;
  out.method = exchange_.method();
  out.headers = request_headers(context_, exchange_, call_, upgrade);
  out.target = std::move(call_.target);
  out.deadline = deadline_of(context_, call_);
  out.lasting = context_.long_running;
  out.upgrade = upgrade;
  out.breaker = breaker_;
  return out;
}

Task<Status> ProxiedRequest::add_body(HttpCall& out) {
  const std::optional<std::uint64_t> length = length_in(exchange_.header("content-length"));
  if (length && *length <= kWhole) {
    auto reading = exchange_.read_body(kWhole);
    Result<std::string> whole = co_await std::move(reading);
    if (!whole.ok()) co_return std::move(whole).status();
    out.body = std::move(*whole);
    co_return Status();
  }
  body_ = std::make_shared<RequestBody>(exchange_);
  out.body_source = body_;
  out.body_size = length;
  co_return Status();
}

Task<Result<Answer>> ProxiedRequest::ask(HttpCall out) {
  closed_ = exchange_.on_close([this] { breaker_->break_off(service_unavailable("context canceled")); });
  auto calling = call_.backend->call(std::move(out));
  Result<Answer> answer = co_await std::move(calling);
  co_return std::move(answer);
}

// Sends an error, unless the client has disconnected or the response has begun.
Task<void> ProxiedRequest::fail(Status status) {
  cancel_subscription();
  if (exchange_.closed() || exchange_.started()) co_return;
  auto answering = call_.answer_error(context_, exchange_, std::move(status));
  co_await std::move(answering);
}

Task<void> ProxiedRequest::pass() {
  HttpCall out = outgoing(false);
  Status sent;
  if (may_have_body(exchange_)) {
    auto adding = add_body(out);
    sent = co_await std::move(adding);
  }
  if (!sent.ok()) {
    auto failing = fail(std::move(sent));
    co_await std::move(failing);
    co_return;
  }
  auto asking = ask(std::move(out));
  Result<Answer> answer = co_await std::move(asking);
  if (!answer.ok()) {
    auto failing = fail(service_unavailable("error trying to reach service: " + answer.status().message()));
    co_await std::move(failing);
  } else {
    auto answering = answer_with(std::move(*answer));
    co_await std::move(answering);
  }
  if (body_) {
    auto settling = body_->finish_reading();
    co_await std::move(settling);
  }
}

void ProxiedRequest::begin_answer(const HttpAnswer& answer) {
  exchange_.set_compressible(false);
  for (auto& [name, value] : answer_headers(answer.headers(), call_, exchange_.header("host"))) {
    exchange_.add_response_header(std::move(name), std::move(value));
  }
}

Task<void> ProxiedRequest::answer_with(Answer answer) {
  if (is_refused_redirect(*answer, call_)) {
    answer.reset();
    cancel_subscription();
    std::vector<SharedBytes> text;
    text.push_back(SharedBytes::from_static("the backend attempted to redirect this request, which is not permitted"));
    auto responding = exchange_.respond(502, "text/plain; charset=utf-8", std::move(text));
    co_await std::move(responding);
    co_return;
  }
  begin_answer(*answer);
  const std::optional<std::uint64_t> length = length_in(first_of(answer->headers(), "content-length"));
  const bool whole = length && *length <= kWhole && exchange_.method() != "HEAD";
  auto answering = whole ? answer_whole(std::move(answer)) : answer_streamed(std::move(answer));
  co_await std::move(answering);
}

Task<void> ProxiedRequest::answer_whole(Answer answer) {
  auto reading = read_all(*answer, kWhole);
  Result<std::string> bytes = co_await std::move(reading);
  cancel_subscription();
  if (!bytes.ok()) {
    exchange_.abort();
    co_return;
  }
  std::vector<SharedBytes> body;
  if (!bytes->empty()) body.emplace_back(std::move(*bytes));
  auto responding = exchange_.respond(answer->code(), first_of(answer->headers(), "content-type"), std::move(body));
  co_await std::move(responding);
}

Task<void> ProxiedRequest::answer_streamed(Answer answer) {
  auto starting = exchange_.start(answer->code(), first_of(answer->headers(), "content-type"));
  Status written = co_await std::move(starting);
  bool broken = false;
  if (written.ok()) {
    auto pouring = forward_body(*answer, broken);
    written = co_await std::move(pouring);
  }
  cancel_subscription();
  if (!written.ok()) co_return;
  if (broken) {
    exchange_.abort();
    co_return;
  }
  auto finishing = exchange_.finish();
  co_await std::move(finishing);
}

// Forwards the backend's body to the client until either side ends.  Returns the status of the writes to the client. Sets `broken` if the
// backend has aborted the response.
Task<Status> ProxiedRequest::forward_body(HttpAnswer& answer, bool& broken) {
  Status written;
  Result<std::string> piece;
  while (written.ok()) {
    auto reading = answer.read();
    piece = co_await std::move(reading);
    broken = !piece.ok();
    if (broken || piece->empty()) break;
    std::vector<SharedBytes> chunk;
    chunk.emplace_back(std::move(*piece));
    auto writing = exchange_.write(std::move(chunk));
    written = co_await std::move(writing);
  }
  co_return written;
}

// ---- protocol upgrades

Task<void> ProxiedRequest::pass_upgrade() {
  // The backend trusts the identity headers of this connection, so a client must not send other requests on it, which h2c would allow.
  if (names_upgrade_to(exchange_.headers(), "h2c")) {
    auto failing = fail(bad_request("h2c is not forwarded"));
    co_await std::move(failing);
    co_return;
  }
  HttpCall out = outgoing(true);
  const auto bytes = std::make_shared<TunnelBytes>(exchange_);
  out.body_source = bytes;
  auto asking = ask(std::move(out));
  Result<Answer> answer = co_await std::move(asking);
  const int code = answer.ok() ? (*answer)->code() : 0;
  if (code == 101) {
    auto tunneling = tunnel(std::move(*answer), bytes);
    co_await std::move(tunneling);
  } else if (code >= 400) {
    exchange_.close_connection_after();
    auto answering = answer_with(std::move(*answer));
    co_await std::move(answering);
  } else {
    Status why = code == 0 ? dial_error(answer.status()) : plain_error("invalid upgrade response: status code " + std::to_string(code));
    auto failing = fail(std::move(why));
    co_await std::move(failing);
  }
  bytes->begin(false);
  auto settling = bytes->finish_reading();
  co_await std::move(settling);
}

Task<void> ProxiedRequest::tunnel(Answer answer, std::shared_ptr<TunnelBytes> bytes) {
  const std::string protocol(first_of(answer->headers(), "upgrade"));
  begin_answer(*answer);
  auto switching = exchange_.switch_protocols(protocol);
  Status written = co_await std::move(switching);
  if (!written.ok()) {
    auto failing = fail(plain_error("request connection cannot be hijacked: " + written.message()));
    co_await std::move(failing);
    co_return;
  }
  bytes->begin(true);
  bool broken = false;
  auto pouring = forward_body(*answer, broken);
  written = co_await std::move(pouring);
  cancel_subscription();
  auto finishing = exchange_.finish();
  co_await std::move(finishing);
}

}  // namespace
}  // namespace backplane::proxying

namespace backplane BACKPLANE_API {

Task<void> answer_with_status(RequestContext&, Exchange& exchange, Status status) {
  std::vector<SharedBytes> body;
  body.emplace_back(status.to_json());
  auto responding = exchange.respond(status.code(), "application/json", std::move(body));
  co_await std::move(responding);
}

bool is_upgrade_request(const Exchange& exchange) {
  for (const auto& [name, value] : exchange.headers()) {
    if (!proxying::same_name(name, "connection")) continue;
    constexpr std::string_view kUpgrade = "upgrade";
    for (std::size_t at = 0; at + kUpgrade.size() <= value.size(); ++at) {
      if (proxying::same_name(std::string_view(value).substr(at, kUpgrade.size()), kUpgrade)) return true;
    }
  }
  return false;
}

Task<void> proxy(RequestContext& context, Exchange& exchange, ProxyCall call) {
  proxying::ProxiedRequest passage(context, exchange, call);
  if (is_upgrade_request(exchange)) {
    auto passing = passage.pass_upgrade();
    co_await std::move(passing);
  } else if (call.upgrade_required) {
    auto answering = call.answer_error(context, exchange, bad_request("Upgrade request required"));
    co_await std::move(answering);
  } else {
    auto passing = passage.pass();
    co_await std::move(passing);
  }
}

}  // namespace BACKPLANE_API

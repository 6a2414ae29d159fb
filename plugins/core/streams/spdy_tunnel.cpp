#include "streams/spdy_tunnel.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>

#include "backplane/core/metrics.hpp"
#include "streams/upload.hpp"
#include "streams/websocket_server.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kPrefix = "SPDY/3.1+", kSuffix = ".k8s.io";
constexpr std::size_t kMostErrorBytes = 1 << 20;

bool is_tunnel_protocol(std::string_view protocol) { return protocol.starts_with(kPrefix) && protocol.ends_with(kSuffix); }

std::vector<std::string> tunnelled_protocols(const Exchange& exchange) {
  std::vector<std::string> out;
  for (const std::string& each : websocket_protocols(exchange)) {
    if (is_tunnel_protocol(each)) out.push_back(each.substr(kPrefix.size()));
  }
  return out;
}

std::string_view header_of(const HttpAnswer& answer, std::string_view wanted) {
  for (const auto& [name, value] : answer.headers()) {
    if (boost::algorithm::iequals(name, wanted)) return value;
  }
  return {};
}

HttpCall spdy_call(const Exchange& exchange, std::string target) {
  HttpCall call;
  call.method = "POST";
  call.target = std::move(target);
  call.upgrade = true;
  call.lasting = true;
  call.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  if (!exchange.header("User-Agent").empty()) call.headers.emplace_back("User-Agent", exchange.header("User-Agent"));
  for (const std::string& protocol : tunnelled_protocols(exchange)) call.headers.emplace_back("X-Stream-Protocol-Version", protocol);
  return call;
}

void count(int code) {
  static Metric& requests =
      Metric::counter("apiserver_stream_tunnel_requests_total", "Port-forwards whose SPDY came inside of a WebSocket.", {"code"});
  requests.add({std::to_string(code)});
}

class Tunnel {
 public:
  explicit Tunnel(Exchange& exchange) : exchange_(exchange), executor_(*current_executor()) {}
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  Task<Status> run(std::shared_ptr<HttpClient> kubelet, std::string target) {
    HttpCall call = spdy_call(exchange_, std::move(target));
    call.body_source = upload_;
    call.breaker = breaker_;
    const CloseSubscription closed = exchange_.on_close([this] { cancel_call(); });
    Status done = co_await connect(std::move(kubelet), std::move(call));
    upload_->close();
    co_return done;
  }

 private:
  Task<Status> connect(std::shared_ptr<HttpClient> kubelet, HttpCall call) {
    auto answer = co_await kubelet->call(std::move(call));
    co_await resume_on(executor_);
    if (!answer.ok()) co_return Status(500, Reason::kNone, "error dialing backend: " + answer.status().message());
    answer_ = std::move(*answer);
    const int code = answer_->code();
    if (code >= 400) {
      count(code);
      co_await forward_refusal();
      co_return Status();
    }
    if (code != 101) co_return Status(500, Reason::kNone, "invalid upgrade response: status code " + std::to_string(code));
    const bool agreed = boost::algorithm::icontains(header_of(*answer_, "Connection"), "upgrade") &&
                        boost::algorithm::icontains(header_of(*answer_, "Upgrade"), "spdy/3.1");
    const HandshakeProblem problem = check_handshake(exchange_);
    if (!agreed) {
      count(500);
      co_await refuse(500, "unable to upgrade: missing upgrade headers in response\n");
      co_return Status();
    }
    if (problem.code != 0) {
      count(500);
      co_await refuse(problem.code, problem.code == 405 ? "Method Not Allowed\n" : "Bad Request\n");
      co_return Status();
    }
    std::string chosen(header_of(*answer_, "X-Stream-Protocol-Version"));
    if (!chosen.empty()) chosen.insert(0, kPrefix);
    Status accepted = co_await accept_websocket(exchange_, std::move(chosen));
    if (!accepted.ok()) co_return accepted;
    count(101);
    co_await relay();
    co_return Status();
  }

  Task<void> refuse(int code, std::string text) {
    exchange_.set_response_header("X-Content-Type-Options", "nosniff");
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(text));
    co_await exchange_.respond(code, "text/plain; charset=utf-8", std::move(body));
  }

  // Sends the kubelet's error response to the client.
  Task<void> forward_refusal() {
    std::string text;
    while (text.size() < kMostErrorBytes) {
      auto some = co_await answer_->read();
      if (!some.ok() || some->empty()) break;
      text.append(*some);
    }
    co_await resume_on(executor_);
    const std::string type(header_of(*answer_, "Content-Type"));
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(text));
    co_await exchange_.respond(answer_->code(), type, std::move(body));
  }

  Task<void> relay() {
    spawn_detached(executor_, read_fenced(), [done = reading_done_] { done.set(true); });
    for (;;) {
      auto some = co_await answer_->read();
      co_await resume_on(executor_);
      if (!some.ok() || some->empty()) break;
      std::vector<SharedBytes> piece;
      piece.emplace_back(frame(kBinaryFrame, *some));
      Status sent = co_await exchange_.write(std::move(piece));
      if (!sent.ok()) break;
    }
    answer_->cancel();
    upload_->close();
    std::vector<SharedBytes> farewell;
    farewell.emplace_back(close_frame());
    Status sent = co_await exchange_.write(std::move(farewell));
    (void)sent;  // the client has disconnected
    co_await exchange_.finish();
    bool done = co_await reading_done_.future();
    (void)done;
    co_await resume_on(executor_);
  }

  Task<void> read_fenced() {
    try {
      co_await read_messages();
    } catch (...) {
      // A peer that cannot be read from counts as disconnected.
    }
    cancel_call();
  }

  Task<void> read_messages() {
    for (;;) {
      MessageReader::Event event = reader_.next();
      if (event.kind == MessageReader::Event::Kind::kClose || event.kind == MessageReader::Event::Kind::kBroken) co_return;
      if (event.kind == MessageReader::Event::Kind::kData) {
        if (event.text) co_return;
        bool taken = co_await upload_->write(std::move(event.data));
        co_await resume_on(executor_);
        if (!taken) co_return;
      } else if (event.kind == MessageReader::Event::Kind::kPing) {
        std::vector<SharedBytes> pong;
        pong.emplace_back(frame(kPongFrame, event.data));
        Status sent = co_await exchange_.write(std::move(pong));
        if (!sent.ok()) co_return;
      } else {
        std::string some = co_await exchange_.read_some();
        if (some.empty()) co_return;
        reader_.feed(some);
      }
    }
  }

  void cancel_call() {
    breaker_->break_off(timeout("the client has disconnected", 0));
    if (answer_) answer_->cancel();
  }

  Exchange& exchange_;
  Executor& executor_;
  const std::shared_ptr<Upload> upload_ = std::make_shared<Upload>();
  const std::shared_ptr<CallBreaker> breaker_ = std::make_shared<CallBreaker>();
  std::unique_ptr<HttpAnswer> answer_;
  MessageReader reader_;
  Promise<bool> reading_done_;
};

}  // namespace

bool asks_for_tunnel(const Exchange& exchange) { return is_websocket_request(exchange) && !tunnelled_protocols(exchange).empty(); }

Task<Status> tunnel_spdy(Exchange& exchange, std::shared_ptr<HttpClient> kubelet, std::string target) {
  Tunnel tunnel(exchange);
  Status done = co_await tunnel.run(std::move(kubelet), std::move(target));
  co_return done;
}

}  // namespace backplane::core

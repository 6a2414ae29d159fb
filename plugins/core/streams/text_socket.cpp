#include "streams/text_socket.hpp"

#include <algorithm>
#include <optional>

#include "backplane/types/base64.hpp"
#include "streams/websocket_server.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kBinary = "binary.k8s.io", kBase64 = "base64.binary.k8s.io";

// nullopt: the client offers only unknown protocols.
std::optional<std::string> choose_protocol(const Exchange& exchange) {
  const auto offered = websocket_protocols(exchange);
  if (offered.empty()) return std::string();
  for (const std::string& each : offered) {
    if (each == kBinary || each == kBase64) return each;
  }
  return std::nullopt;
}

class TextSocket {
 public:
  TextSocket(Exchange& exchange, std::unique_ptr<HttpAnswer> source, bool base64)
      : exchange_(exchange), source_(std::move(source)), base64_(base64), executor_(*current_executor()) {}
  TextSocket(const TextSocket&) = delete;
  TextSocket& operator=(const TextSocket&) = delete;

  Task<void> run() {
    spawn_detached(executor_, read_fenced(), [done = reading_done_] { done.set(true); });
    bool open = co_await say({});  // shows that the connection is established
    while (open) {
      auto some = co_await source_->read();
      co_await resume_on(executor_);
      if (!some.ok() || some->empty()) break;
      open = co_await say(std::move(*some));
    }
    std::vector<SharedBytes> farewell;
    farewell.emplace_back(close_frame());
    Status sent = co_await exchange_.write(std::move(farewell));
    (void)sent;  // the client has disconnected
    co_await exchange_.finish();
    const bool done = co_await reading_done_.future();
    (void)done;
    co_await resume_on(executor_);
  }

 private:
  Task<bool> say(std::string text) {
    std::vector<SharedBytes> message;
    message.emplace_back(base64_ ? frame(kTextFrame, to_base64(text)) : frame(kBinaryFrame, text));
    Status sent = co_await exchange_.write(std::move(message));
    co_return sent.ok();
  }

  Task<void> read_fenced() {
    try {
      co_await read_messages();
    } catch (...) {
      // A peer that cannot be read from counts as disconnected.
    }
    source_->cancel();
  }

  // Messages of the client are ignored until it closes the WebSocket.
  Task<void> read_messages() {
    for (;;) {
      MessageReader::Event event = reader_.next();
      if (event.kind == MessageReader::Event::Kind::kClose || event.kind == MessageReader::Event::Kind::kBroken) co_return;
      if (event.kind == MessageReader::Event::Kind::kPing) {
        std::vector<SharedBytes> pong;
        pong.emplace_back(frame(kPongFrame, event.data));
        Status sent = co_await exchange_.write(std::move(pong));
        if (!sent.ok()) co_return;
      } else if (event.kind == MessageReader::Event::Kind::kNeedsMore) {
        std::string some = co_await exchange_.read_some();
        if (some.empty()) co_return;
        reader_.feed(some);
      }
    }
  }

  Exchange& exchange_;
  const std::unique_ptr<HttpAnswer> source_;
  const bool base64_;
  Executor& executor_;
  MessageReader reader_;
  Promise<bool> reading_done_;
};

}  // namespace

Task<Status> stream_to_websocket(Exchange& exchange, std::unique_ptr<HttpAnswer> source) {
  HandshakeProblem problem = check_handshake(exchange);
  const auto protocol = choose_protocol(exchange);
  if (problem.code == 0 && !protocol) problem.code = 403;
  if (problem.code != 0) {
    exchange.close_connection_after();
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(problem.text));
    co_await exchange.respond(problem.code, "text/plain; charset=utf-8", std::move(body));
    co_return Status();
  }
  Status accepted = co_await accept_websocket(exchange, *protocol);
  if (!accepted.ok()) co_return accepted;
  TextSocket socket(exchange, std::move(source), *protocol == kBase64);
  co_await socket.run();
  co_return Status();
}

}  // namespace backplane::core

#include "streams/remote_command.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <vector>

#include "backplane/core/metrics.hpp"
#include "streams/remote_status.hpp"
#include "streams/spdy_session.hpp"
#include "streams/upload.hpp"
#include "streams/websocket_server.hpp"

namespace backplane::core {
namespace {

using Clock = std::chrono::steady_clock;
using spdy::Session;

constexpr std::string_view kProtocol = "v5.channel.k8s.io";
// The protocols offered to the kubelet, best first.
constexpr std::string_view kKubeletProtocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io",
                                                  "channel.k8s.io"};
constexpr char kIn = 0, kOut = 1, kErr = 2, kStatus = 3, kResize = 4;
constexpr auto kCloseSignal = static_cast<unsigned char>(255);
constexpr std::size_t kMostStatusBytes = 1 << 20, kMostRefusalBytes = 64 << 10;
constexpr std::chrono::seconds kPingPeriod{5}, kOpenTimeout{30};
constexpr std::chrono::hours kIdleTimeout{4};

std::vector<SharedBytes> message(char channel, std::string_view data) {
  std::string payload(1, channel);
  payload.append(data);
  std::vector<SharedBytes> out;
  out.emplace_back(frame(kBinaryFrame, payload));
  return out;
}

std::string_view header_of(const HttpAnswer& answer, std::string_view wanted) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  for (const auto& [name, value] : answer.headers()) {
    if (name.size() == wanted.size() && std::equal(name.begin(), name.end(), wanted.begin(), same)) return value;
  }
  return {};
}

HttpCall upgrade_call(const std::string& target) {
  HttpCall call;
  call.method = "POST";
  call.target = target;
  call.upgrade = true;
  call.lasting = true;
  call.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  for (const std::string_view protocol : kKubeletProtocols) call.headers.emplace_back("X-Stream-Protocol-Version", protocol);
  return call;
}

class Translator {
 public:
  Translator(Exchange& exchange, RemoteCommand command)
      : exchange_(exchange), command_(std::move(command)), executor_(*current_executor()) {}
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;
  ~Translator() { stop_timers(); }

  // True if the command could not be run, or if its end was not received.
  bool failed() const noexcept { return failed_; }
  // Runs the command, after the handshake.
  Task<void> run() {
    co_await confirm_connection();
    std::string status;
    try {
      status = co_await execute();
    } catch (const std::exception& bug) {
      status = failed_status(bug.what());
    }
    stop_timers();
    failed_ = status.find("\"code\":500") != std::string::npos;
    co_await send_close(std::move(status));
    closed_.cancel();
  }

 private:
  // Sends an empty message on the first output channel, which shows that the connection is established.
  Task<void> confirm_connection() {
    std::vector<SharedBytes> hello = message(command_.out ? kOut : command_.err ? kErr : kStatus, {});
    Status sent = co_await exchange_.write(std::move(hello));
    (void)sent;  // the next read reports a closed connection
  }

  Task<std::string> execute() {
    HttpCall call = upgrade_call(command_.target);
    call.body_source = upload_;
    call.breaker = breaker_;
    closed_ = exchange_.on_close([this] { cancel_call(); });
    auto answer = co_await command_.kubelet->call(std::move(call));
    co_await resume_on(executor_);
    if (!answer.ok()) co_return failed_status("error sending request: Post " + quoted(command_.url) + ": " + answer.status().message());
    answer_ = std::move(*answer);
    if (answer_->code() != 101) {
      std::string refused = co_await refusal();
      co_return refused;
    }
    protocol_ = header_of(*answer_, "X-Stream-Protocol-Version");
    open_streams();
    start_timers();
    listen();
    std::string outcome = co_await relay();
    co_return outcome;
  }

  Task<std::string> refusal() {
    const int code = answer_->code();
    if (code >= 300 && code < 400) {
      const std::string location(header_of(*answer_, "Location"));
      co_return failed_status("error sending request: Post " + quoted(location) + ": redirect not allowed");
    }
    std::string body;
    while (body.size() < kMostRefusalBytes) {
      auto some = co_await answer_->read();
      if (!some.ok() || some->empty()) break;
      body.append(*some);
    }
    co_await resume_on(executor_);
    co_return failed_status("unable to upgrade connection: " + refusal_text(body));
  }

  void open_streams() {
    const auto open = [this](std::string_view type) { return session_.open("streamtype", type); };
    status_ = open("error");
    awaited_.insert(status_);
    if (command_.in) in_ = open("stdin");
    if (command_.out) awaited_.insert(out_ = open("stdout"));
    if (command_.err && !command_.tty) awaited_.insert(err_ = open("stderr"));
    const bool resizes = protocol_.starts_with('v') && protocol_ != "v2.channel.k8s.io";
    if (command_.tty && resizes) resize_ = open("resize");
    for (const std::uint32_t stream : {status_, in_, out_, err_, resize_}) {
      if (stream != 0) unopened_.insert(stream);
    }
    upload_->write_now(session_.take_output());
  }

  // ---- from the kubelet to the client

  // Forwards output to the client until the command's output and its exit status have been received. Returns the final Status.
  Task<std::string> relay() {
    while (!awaited_.empty()) {
      auto some = co_await answer_->read();
      co_await resume_on(executor_);
      active_ = Clock::now();
      if (!some.ok() || some->empty()) break;
      session_.feed(*some);
      bool continues = co_await pass_events();
      // A node that sends pings and does not read the responses must not fill the memory, so its call is ended.
      const bool taken = upload_->write_now(session_.take_output());
      if (!continues || !taken) break;
    }
    if (late_) co_return failed_status("Timeout occurred");
    if (!failure_.empty()) co_return failed_status(failure_);
    co_return final_status(protocol_, ending_);
  }

  // Handles all events that have been received. Returns false if the connection must end.
  Task<bool> pass_events() {
    for (;;) {
      Session::Event event = session_.next();
      if (event.kind == Session::Event::Kind::kNeedsMore) co_return true;
      if (event.kind == Session::Event::Kind::kBroken) co_return false;
      if (event.kind == Session::Event::Kind::kData) {
        std::vector<SharedBytes> piece = piece_of(event);
        if (piece.empty()) continue;
        Status sent = co_await exchange_.write(std::move(piece));
        if (!sent.ok()) co_return false;
        continue;
      }
      if (!note(event)) co_return false;
    }
  }

  std::vector<SharedBytes> piece_of(const Session::Event& event) {
    if (event.stream == out_) return message(kOut, event.data);
    if (event.stream == err_) return message(kErr, event.data);
    if (event.stream == status_ && ending_.size() + event.data.size() <= kMostStatusBytes) ending_.append(event.data);
    return {};
  }

  bool note(const Session::Event& event) {
    if (event.kind == Session::Event::Kind::kOpened) {
      unopened_.erase(event.stream);
      return true;
    }
    if (unopened_.count(event.stream) != 0) {
      failure_ = "Stream reset";
      return false;
    }
    // The command does not read its input any more.
    if (event.stream == in_) session_.end(in_);
    awaited_.erase(event.stream);
    return true;
  }

  // ---- from the client to the kubelet

  void listen() {
    listening_ = true;
    spawn_detached(executor_, read_fenced(), [done = reading_done_] { done.set(true); });
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
      bool continues = true;
      if (event.kind == MessageReader::Event::Kind::kClose || event.kind == MessageReader::Event::Kind::kBroken) co_return;
      if (event.kind == MessageReader::Event::Kind::kData) {
        continues = take(event);
      } else if (event.kind == MessageReader::Event::Kind::kPing) {
        std::vector<SharedBytes> pong;
        pong.emplace_back(frame(kPongFrame, event.data));
        Status sent = co_await exchange_.write(std::move(pong));
        continues = sent.ok();
      } else {
        std::string some = co_await exchange_.read_some();
        continues = !some.empty();
        reader_.feed(some);
        active_ = Clock::now();
      }
      if (!continues) co_return;
      std::string to_kubelet = session_.take_output();
      if (to_kubelet.empty()) continue;
      bool taken = co_await upload_->write(std::move(to_kubelet));
      co_await resume_on(executor_);
      if (!taken) co_return;
    }
  }

  // Handles a piece of a message. False: the client has violated the protocol.
  bool take(const MessageReader::Event& event) {
    std::string_view data = event.data;
    if (event.first && !data.empty()) {
      channel_ = static_cast<unsigned char>(data.front());
      data.remove_prefix(1);
      signal_.clear();
    } else if (event.first) {
      return true;  // an empty message is ignored
    }
    if (channel_ == kCloseSignal) {
      signal_.append(data.substr(0, 2));
      if (!event.last) return signal_.size() <= 1;
      return signal_.size() == 1 && close_channel(signal_.front());
    }
    if (channel_ == static_cast<unsigned char>(kIn) && in_ != 0) session_.send(in_, data);
    if (channel_ == static_cast<unsigned char>(kResize) && resize_ != 0) session_.send(resize_, data);
    return true;
  }

  bool close_channel(char channel) {
    if (channel == kIn && in_ != 0) session_.end(in_);
    return channel >= kIn && channel <= kResize;
  }

  // ---- the end

  // Cancels the call to the kubelet, because the client has disconnected.
  void cancel_call() {
    breaker_->break_off(timeout("the client has disconnected", 0));
    if (answer_) answer_->cancel();
  }

  Task<void> send_close(std::string status) {
    std::vector<SharedBytes> last = message(kStatus, status);
    last.emplace_back(close_frame());
    Status sent = co_await exchange_.write(std::move(last));
    (void)sent;  // the client has disconnected
    co_await exchange_.finish();
    upload_->close();
    if (answer_) answer_->cancel();
    if (!listening_) co_return;
    bool done = co_await reading_done_.future();
    (void)done;
    co_await resume_on(executor_);
  }

  // ---- timers

  void start_timers() {
    active_ = Clock::now();
    arm_ping();
    cancel_open_timer_ = executor_.after(kOpenTimeout, [this] {
      if (unopened_.empty()) return;
      late_ = true;
      answer_->cancel();
    });
  }
  void arm_ping() {
    cancel_ping_ = executor_.after(kPingPeriod, [this] {
      session_.ping();
      upload_->write_now(session_.take_output());
      if (Clock::now() - active_ > kIdleTimeout) return cancel_call();
      arm_ping();
    });
  }
  void stop_timers() {
    for (auto* cancel : {&cancel_ping_, &cancel_open_timer_}) {
      if (*cancel) (*cancel)();
    }
  }

  Exchange& exchange_;
  CloseSubscription closed_;
  const RemoteCommand command_;
  Executor& executor_;
  const std::shared_ptr<Upload> upload_ = std::make_shared<Upload>();
  const std::shared_ptr<CallBreaker> breaker_ = std::make_shared<CallBreaker>();
  std::unique_ptr<HttpAnswer> answer_;
  std::string protocol_;  // the protocol that the kubelet has chosen
  Session session_;
  MessageReader reader_;
  std::uint32_t status_ = 0, in_ = 0, out_ = 0, err_ = 0, resize_ = 0;
  std::set<std::uint32_t> unopened_, awaited_;
  std::string ending_, failure_;
  unsigned char channel_ = 0;  // the channel of the message that is being read
  std::string signal_;
  bool listening_ = false, late_ = false, failed_ = false;
  Promise<bool> reading_done_;
  Clock::time_point active_;
  std::function<void()> cancel_ping_, cancel_open_timer_;
};

// Counts a command by the HTTP code of its result.
void count_end(int code) {
  static Metric& requests = Metric::counter("apiserver_stream_translator_requests_total",
                                            "Remote commands that were translated from WebSocket to SPDY.", {"code"});
  requests.add({std::to_string(code)});
}

Task<void> refuse(Exchange& exchange, int code, std::string text) {
  exchange.close_connection_after();
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, "text/plain; charset=utf-8", std::move(body));
}

}  // namespace

bool asks_for_stream_close(const Exchange& exchange) {
  if (!is_websocket_request(exchange)) return false;
  const auto protocols = websocket_protocols(exchange);
  return std::find(protocols.begin(), protocols.end(), kProtocol) != protocols.end();
}

Task<Status> translate_command(Exchange& exchange, RemoteCommand command) {
  HandshakeProblem problem = check_handshake(exchange);
  if (problem.code != 0) {
    count_end(400);
    co_await refuse(exchange, problem.code, std::move(problem.text));
    co_return Status();
  }
  Status accepted = co_await accept_websocket(exchange, std::string(kProtocol));
  if (!accepted.ok()) co_return accepted;
  Translator translator(exchange, std::move(command));
  co_await translator.run();
  count_end(translator.failed() ? 500 : 200);
  co_return Status();
}

}  // namespace backplane::core

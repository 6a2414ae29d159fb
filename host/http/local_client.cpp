#include "http/local_client.hpp"

#include "base/caught.hpp"
#include "base/origin_executor.hpp"
#include "http/call_metrics.hpp"
#include "http/http_exchange.hpp"
#include "http/log.hpp"

namespace backplane {
namespace {

// the largest piece of a response, and the number of unread request bytes at which feed() waits
constexpr std::size_t kWindow = 256 * 1024;

const HttpLimits& local_limits() {
  static const HttpLimits limits = [] {
    HttpLimits plain;
    plain.gzip = false;  // no network traffic is saved
    return plain;
  }();
  return limits;
}

// One call. LocalCall is the StreamPort of the call's exchange, and stores the state for which the reader waits. It is used on the executor
// of the call only, except for abort() and breaking().
class LocalCall final : public StreamPort {
 public:
  LocalCall(HttpCall call, Executor& executor) : executor_(executor), peer_(std::make_shared<PeerInfo>()), deadline_(call.deadline) {
    RequestHead head;
    head.method = std::move(call.method);
    head.target = std::move(call.target);
    head.headers = std::move(call.headers);
    if (!call.body_source) head.content_length = call.body.size();
    exchange_ = std::make_shared<HttpExchange>(std::move(head), peer_, local_limits(), *this);
    if (call.body_source) return;
    if (!call.body.empty()) exchange_->body_arrived(call.body);
    exchange_->body_ended();
  }

  Executor& executor() const noexcept { return executor_; }
  // A posted abort() of the exchange may run after this object is destroyed, so the exchange is detached.
  ~LocalCall() override { exchange_->detach(); }

  // ---- the handler
  static Task<void> run(std::shared_ptr<LocalCall> self, HttpHandler& root, std::optional<UserRef> user) {
    bool failed = false;
    const OriginExecutor origin;
    {
      RequestContext context;
      context.exchange = self->exchange_.get();
      if (user) context.user = std::move(*user);
      try {
        co_await root.handle(context, *self->exchange_);
      } catch (...) {
        const Caught error = caught();
        http_log().error("a local request failed target={} error={}{}", self->exchange_->target(), error.what, error.stack);
        failed = true;
      }
    }
    // The handler may end on any executor.
    co_await origin;
    if (failed) self->broken_ = true;
    self->handled_ = true;
    self->wake();
  }
  // Passes the pieces of the request body to the exchange. Waits while the handler has not read kWindow bytes.
  static Task<void> feed(std::shared_ptr<LocalCall> self, std::shared_ptr<BodySource> source) {
    const OriginExecutor origin;
    while (!self->over()) {
      Result<std::string> piece;
      try {
        auto making = source->next();
        piece = co_await std::move(making);
      } catch (...) {
        piece = internal_error(caught().what);
      }
      co_await origin;
      if (self->over()) co_return;
      if (!piece.ok()) {
        self->failed_ = std::move(piece).status();
        self->exchange_->abort();
        self->wake();
        co_return;
      }
      if (piece->empty()) {
        self->exchange_->body_ended();
        co_return;
      }
      self->exchange_->body_arrived(*piece);
      while (!self->over() && self->exchange_->unread_body() >= kWindow) {
        self->taken_.emplace();
        co_await self->taken_->future();
      }
    }
  }
  void watch_deadline(std::weak_ptr<LocalCall> weak) {
    if (deadline_ == std::chrono::steady_clock::time_point::max()) return;
    cancel_timer_ = executor_.after(deadline_ - std::chrono::steady_clock::now(), [weak] {
      auto self = weak.lock();
      if (!self) return;
      self->timed_out_ = true;
      self->exchange_->abort();
      self->wake();
    });
  }
  // Returns a function that ends the call with an error. The function may be called on any thread.
  static std::function<void(Status)> breaking(std::weak_ptr<LocalCall> weak, Executor& executor) {
    return [weak, &executor](Status why) {
      executor.post([weak, why] {
        const auto self = weak.lock();
        if (!self || self->over()) return;
        self->failed_ = why;
        self->exchange_->abort();
        self->wake();
      });
    };
  }
  void end_timer() {
    if (cancel_timer_) cancel_timer_();
  }

  // ---- the reader
  Task<Status> head() {
    while (code == 0 && !over() && !failed_) co_await wait();
    if (code == 0) {
      if (failed_) co_return *failed_;
      if (timed_out_) co_return timeout("the call took too long", 0);
      code = 500;
    }
    co_return Status();
  }
  Task<Result<std::string>> read() {
    while (true) {
      if (timed_out_) co_return timeout("the call took too long", 0);
      if (failed_) co_return *failed_;
      if (exchange_->output_size() > 0) {
        std::string some;
        exchange_->take(some, std::min(exchange_->output_size(), kWindow));
        co_return some;
      }
      if (exchange_->output_ended()) co_return std::string();
      if (over()) co_return service_unavailable("the response was aborted");
      co_await wait();
    }
  }
  void abort() { exchange_->abort(); }

  int code = 0;
  Headers headers;

  // StreamPort
  void head_ready(HttpExchange& exchange) override {
    code = exchange.response_head().code;
    headers = exchange.response_head().headers;
    wake();
  }
  void output_ready(HttpExchange&) override { wake(); }
  void body_wanted(HttpExchange&) override {}
  void body_consumed(HttpExchange&, std::size_t) override { wake_feeder(); }
  void break_off(HttpExchange& exchange) override {
    broken_ = true;
    exchange.lost();
    wake();
  }
  void close_after(HttpExchange&) override {}
  void handler_ended(HttpExchange&) override {}

 private:
  bool over() const { return broken_ || handled_; }
  Future<bool> wait() {
    waiting_.emplace();
    return waiting_->future();
  }
  void wake() {
    if (auto waiting = std::exchange(waiting_, std::nullopt)) waiting->set(true);
    wake_feeder();
  }
  void wake_feeder() {
    if (auto taken = std::exchange(taken_, std::nullopt)) taken->set(true);
  }

  Executor& executor_;
  const std::shared_ptr<const PeerInfo> peer_;
  const std::chrono::steady_clock::time_point deadline_;
  std::shared_ptr<HttpExchange> exchange_;
  std::optional<Promise<bool>> waiting_;
  std::optional<Promise<bool>> taken_;  // feed() waits for it
  std::optional<Status> failed_;        // the error of the body source, or of the function that breaking() returns
  std::function<void()> cancel_timer_;
  bool handled_ = false;
  bool broken_ = false;
  bool timed_out_ = false;
};

class LocalAnswer final : public HttpAnswer {
 public:
  explicit LocalAnswer(std::shared_ptr<LocalCall> call) : call_(std::move(call)) {}
  ~LocalAnswer() override {
    call_->end_timer();
    call_->abort();
  }
  int code() const noexcept override { return call_->code; }
  const Headers& headers() const noexcept override { return call_->headers; }
  Task<Result<std::string>> read() override {
    if (current_executor() == &call_->executor()) return call_->read();
    return read_on_executor_of(call_);
  }
  void cancel() override { call_->abort(); }

 private:
  // The reader may have moved to another executor, but the exchange may be used on the call's executor only.
  static Task<Result<std::string>> read_on_executor_of(std::shared_ptr<LocalCall> call) {
    const OriginExecutor reader;
    co_await resume_on(call->executor());
    auto reading = call->read();
    auto some = co_await std::move(reading);
    co_await reader;
    co_return some;
  }

  const std::shared_ptr<LocalCall> call_;
};

// Adds the group system:authenticated, which the user of an authenticated request has.
UserInfo authenticated(UserInfo user) {
  constexpr std::string_view kAuthenticated = "system:authenticated";
  if (user.name != "system:anonymous" && !user.in_group(kAuthenticated)) user.groups.emplace_back(kAuthenticated);
  return user;
}

class LocalClient final : public HttpClient {
 public:
  LocalClient(HttpHandler& root, TaskGroup& tasks, std::optional<UserInfo> user) : root_(root), tasks_(tasks) {
    if (user) user_ = authenticated(std::move(*user));
  }

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    // A call without a user name would have the server's own identity and all permissions.
    if (user_ && (*user_)->name.empty()) co_return bad_request("a call on behalf of a user must have a user name");
    if (call.upgrade) co_return bad_request("calls inside the process cannot be upgraded");
    Executor* const executor = current_executor();
    if (executor == nullptr) co_return internal_error("a call needs an executor, and this thread has none: call it from a task on one");
    // The server accepts requests with this user agent until the end of the drain, so that shutdown hooks can clean up.
    call.headers.emplace_back("User-Agent", "kube-apiserver/backplane");
    const auto source = call.body_source;
    const auto breaker = call.breaker;
    const std::string method = call.method;
    const auto series = series_;  // the client may be destroyed during the call
    const CallMetrics metrics(method, *series);
    if (!source) metrics.sent(call.body.size());
    auto local = std::make_shared<LocalCall>(std::move(call), *executor);
    auto answer = std::make_unique<LocalAnswer>(local);
    if (!tasks_.spawn(*executor, "local-call", LocalCall::run(local, root_, user_))) {
      co_return service_unavailable("the server is stopping");
    }
    if (source && !tasks_.spawn(*executor, "local-call-body", LocalCall::feed(local, source)))
      co_return service_unavailable("the server is stopping");
    local->watch_deadline(local);
    if (breaker) breaker->attach(LocalCall::breaking(local, *executor));
    Status begun = co_await local->head();
    if (!begun.ok()) {
      metrics.failed();
      co_return begun;
    }
    metrics.answered(local->code);
    co_return std::unique_ptr<HttpAnswer>(std::move(answer));
  }

 private:
  HttpHandler& root_;
  TaskGroup& tasks_;
  std::optional<UserRef> user_;
  const std::shared_ptr<CallSeries> series_ = std::make_shared<CallSeries>(kLoopbackHost);
};

}  // namespace

std::shared_ptr<HttpClient> make_local_client(HttpHandler& root, TaskGroup& tasks, std::optional<UserInfo> user) {
  return std::make_shared<LocalClient>(root, tasks, std::move(user));
}

}  // namespace backplane

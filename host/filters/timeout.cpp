// WithTimeoutForNonLongRunningRequests: sends 504 at the deadline of a short request. The handler continues until it ends, and its writes
// are dropped.
#include <optional>

#include "backplane/points/close_callbacks.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/request_series.hpp"
#include "endpoints/timed_out.hpp"
#include "filters/deadline_queue.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

// Forwards calls until the deadline. After the deadline, the exchange behaves as if the client had disconnected.
class TimedExchange final : public FilterExchange, public DeadlineQueue::Entry {
 public:
  TimedExchange(Exchange& inner, const RequestContext& context) : FilterExchange(inner), context_(context) {}

  // The handler has ended, so the deadline is removed.
  using DeadlineQueue::Entry::unlink;
  // True if the deadline has passed and on_deadline() sends 504. The future answered() is ready when the response has been sent.
  bool answering() const noexcept { return answered_.has_value(); }
  Future<bool> answered() const { return answered_->future(); }
  bool timed_out() const noexcept { return timed_out_; }
  // True if the handler's response was sent completely.
  bool complete() const noexcept { return complete_; }
  // True if only a part of the handler's response was sent.
  bool aborted() const noexcept { return aborted_ || (!timed_out_ && !complete_ && inner().started()); }

  Task<Result<std::string>> read_body(std::size_t max_bytes) override {
    co_await origin_;
    if (timed_out_) co_return timed_out_status();
    reading_ = true;
    auto body = co_await inner().read_body(max_bytes);
    reading_ = false;
    if (timed_out_) co_return timed_out_status();
    co_return body;
  }
  Task<Result<std::string>> read_body_some() override {
    co_await origin_;
    if (timed_out_) co_return timed_out_status();
    reading_ = true;
    auto some = co_await inner().read_body_some();
    reading_ = false;
    if (timed_out_) co_return timed_out_status();
    co_return some;
  }
  void add_response_header(std::string name, std::string value) override {
    if (!timed_out_) inner().add_response_header(std::move(name), std::move(value));
  }
  void set_response_header(std::string name, std::string value) override {
    if (!timed_out_) inner().set_response_header(std::move(name), std::move(value));
  }
  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override {
    co_await origin_;
    if (timed_out_) co_return;
    co_await inner().respond(code, content_type, std::move(body));
    complete_ = !timed_out_;
  }
  Task<Status> start(int code, std::string_view content_type) override {
    co_await origin_;
    if (timed_out_) co_return timed_out_status();
    Status status = co_await inner().start(code, content_type);
    co_return status;
  }
  Task<Status> write(std::vector<SharedBytes> chunks) override {
    co_await origin_;
    if (timed_out_) co_return timed_out_status();
    Status status = co_await inner().write(std::move(chunks));
    co_return status;
  }
  Task<void> finish() override {
    co_await origin_;
    if (timed_out_) co_return;
    co_await inner().finish();
    complete_ = !timed_out_;
  }
  std::uint64_t add_close_callback(std::function<void()> callback) override {
    const std::uint64_t id = close_callbacks_.add(std::move(callback));
    if (!subscribed_ && !timed_out_) subscription_ = inner().on_close([this] { close_callbacks_.run(); });
    subscribed_ = true;
    return id;
  }
  void remove_close_callback(std::uint64_t id) noexcept override { close_callbacks_.remove(id); }
  bool closed() const noexcept override { return timed_out_ || inner().closed(); }

 private:
  void on_deadline() override {
    if (complete_) return;
    timed_out_ = true;
    if (inner().started()) {
      // A part of the response has been sent. The client must not take it for a complete one.
      aborted_ = true;
      inner().abort();
    } else {
      answered_.emplace();
      spawn_detached(*current_executor(), answer(inner(), timed_out_answer(context_), reading_),
                     [answered = *answered_] { answered.set(true); });
    }
    // The handler may wait for the client to disconnect. Its close callbacks end the wait.
    subscription_.cancel();
    close_callbacks_.run();
  }

  static Task<void> answer(Exchange& exchange, TimedOutAnswer what, bool body_unread) {
    // HTTP/2 can end one stream. HTTP/1.1 must close the connection.
    if (exchange.http_major() < 2) exchange.close_connection_after();
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(what.body));
    co_await exchange.respond(504, what.type, std::move(body));
    // If the handler waits for the request body, abort() ends the wait.
    if (body_unread) exchange.abort();
  }

  const RequestContext& context_;
  const OriginExecutor origin_;
  std::atomic<bool> timed_out_ = false;  // may be read on any thread
  bool complete_ = false;
  bool aborted_ = false;
  bool reading_ = false;
  CloseCallbacks close_callbacks_;
  CloseSubscription subscription_;
  bool subscribed_ = false;
  std::optional<Promise<bool>> answered_;
};

class Timeout final : public Filter {
 public:
  explicit Timeout(RequestMetrics* metrics) : metrics_(metrics) {}

  Step enter(FilterCall& call) const override {
    return call.context.long_running || current_executor() == nullptr ? Step::kNext : Step::kAround;
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    TimedExchange timed(call.exchange(), call.context);
    DeadlineQueue::current().add(timed, call.context.deadline);
    std::exception_ptr error;
    try {
      const ExchangeScope exchange_scope(call.context, timed);
      co_await rest.run(call);
    } catch (...) {
      error = std::current_exception();
    }
    timed.unlink();
    if (timed.answering()) co_await timed.answered();
    if (metrics_ != nullptr) count(call, timed, error != nullptr);
    if (timed.timed_out()) {
      filters_log().warn("post-timeout activity method={} URI={:?} audit-ID={:?} time-elapsed={:.3f}s", call.exchange().method(),
                         call.exchange().target(), call.context.audit_id,
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - call.context.deadline).count());
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  // Counts requests whose client has disconnected, and requests that exceeded their deadline.
  void count(const FilterCall& call, const TimedExchange& timed, bool threw) const {
    if (timed.complete()) return;
    if (timed.timed_out() || call.exchange().closed()) metrics_->access.count_late_end(threw);
    if (timed.timed_out()) count_terminated(call.context.info, call.exchange(), 504);
    if (timed.aborted()) count_aborted(call.context.info, call.exchange());
  }

  RequestMetrics* const metrics_;
};

}  // namespace

FilterPtr with_timeout_for_non_long_running_requests(const ChainConfig& config) { return std::make_unique<Timeout>(config.metrics); }

}  // namespace backplane

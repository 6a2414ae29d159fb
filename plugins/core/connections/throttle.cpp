#include "connections/throttle.hpp"

#include <algorithm>
#include <chrono>

namespace backplane::core {
namespace {

using Clock = std::chrono::steady_clock;

// Pieces per second. The pieces are small so that the rate is even.
constexpr std::int64_t kPieces = 10;

// One direction of a connection.
class Throttle {
 public:
  explicit Throttle(std::int64_t bytes_per_second) : rate_(bytes_per_second) {}

  // Stores the bytes that take() returns.
  void put(std::string bytes) { waiting_ = std::move(bytes), at_ = 0; }
  bool empty() const noexcept { return at_ == waiting_.size(); }
  // The next piece, when the rate permits it.
  Task<std::string> take() {
    const std::size_t size = std::min(waiting_.size() - at_, static_cast<std::size_t>(std::max<std::int64_t>(1, rate_ / kPieces)));
    std::string piece = waiting_.substr(at_, size);
    at_ += size;
    const auto now = Clock::now();
    next_ = std::max(next_, now);
    if (next_ > now) {
      auto pause = sleep_for(next_ - now);
      co_await std::move(pause);
    }
    next_ += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(size) / static_cast<double>(rate_)));
    co_return piece;
  }

 private:
  const std::int64_t rate_;
  std::string waiting_;
  std::size_t at_ = 0;
  Clock::time_point next_{};
};

class ThrottledSource final : public BodySource {
 public:
  ThrottledSource(std::shared_ptr<BodySource> source, std::int64_t rate) : source_(std::move(source)), throttle_(rate) {}
  Task<Result<std::string>> next() override {
    if (throttle_.empty()) {
      auto reading = source_->next();
      Result<std::string> some = co_await std::move(reading);
      if (!some.ok() || some->empty()) co_return some;
      throttle_.put(std::move(*some));
    }
    auto taking = throttle_.take();
    std::string piece = co_await std::move(taking);
    co_return piece;
  }

 private:
  const std::shared_ptr<BodySource> source_;
  Throttle throttle_;
};

class ThrottledAnswer final : public HttpAnswer {
 public:
  ThrottledAnswer(std::unique_ptr<HttpAnswer> answer, std::int64_t rate) : answer_(std::move(answer)), throttle_(rate) {}
  int code() const noexcept override { return answer_->code(); }
  const Headers& headers() const noexcept override { return answer_->headers(); }
  const Headers& trailers() const noexcept override { return answer_->trailers(); }
  CertificateFlaws certificate_flaws() const noexcept override { return answer_->certificate_flaws(); }
  void cancel() override { answer_->cancel(); }
  Task<Result<std::string>> read() override {
    if (throttle_.empty()) {
      auto reading = answer_->read();
      Result<std::string> some = co_await std::move(reading);
      if (!some.ok() || some->empty()) co_return some;
      throttle_.put(std::move(*some));
    }
    auto taking = throttle_.take();
    std::string piece = co_await std::move(taking);
    co_return piece;
  }

 private:
  const std::unique_ptr<HttpAnswer> answer_;
  Throttle throttle_;
};

class ThrottledClient final : public HttpClient {
 public:
  ThrottledClient(std::shared_ptr<HttpClient> client, std::int64_t rate) : client_(std::move(client)), rate_(rate) {}
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const bool upgrade = call.upgrade;
    if (upgrade && call.body_source) call.body_source = std::make_shared<ThrottledSource>(std::move(call.body_source), rate_);
    auto calling = client_->call(std::move(call));
    Result<std::unique_ptr<HttpAnswer>> answer = co_await std::move(calling);
    if (!upgrade || !answer.ok() || (*answer)->code() != 101) co_return answer;
    std::unique_ptr<HttpAnswer> slow = std::make_unique<ThrottledAnswer>(std::move(*answer), rate_);
    co_return slow;
  }

 private:
  const std::shared_ptr<HttpClient> client_;
  const std::int64_t rate_;
};

}  // namespace

std::shared_ptr<HttpClient> throttled(std::shared_ptr<HttpClient> client, std::int64_t bytes_per_second) {
  if (bytes_per_second <= 0) return client;
  return std::make_shared<ThrottledClient>(std::move(client), bytes_per_second);
}

}  // namespace backplane::core

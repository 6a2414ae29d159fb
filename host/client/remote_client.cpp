#include "client/remote_client.hpp"

#include "base/caught.hpp"
#include "client/client_credentials.hpp"
#include "client/remote_pool.hpp"
#include "http/call_metrics.hpp"
#include "http/header_text.hpp"

namespace backplane {
namespace {

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

// Forwards the pieces of a body as the source produces them.
Task<void> send_body(RemoteCallRef call, std::shared_ptr<BodySource> source) {
  for (bool more = true; more;) {
    Result<std::string> piece;
    try {
      auto making = source->next();
      piece = co_await std::move(making);
    } catch (...) {
      piece = internal_error(caught().what);
    }
    if (!piece.ok()) {
      call->break_off(std::move(piece).status());
      co_return;
    }
    if (piece->empty()) {
      call->end_body();
      co_return;
    }
    more = co_await call->send(std::move(*piece));
  }
}

class RemoteAnswer final : public HttpAnswer {
 public:
  explicit RemoteAnswer(RemoteCallRef call) : call_(std::move(call)) {}
  ~RemoteAnswer() override { call_->cancel(); }
  int code() const noexcept override { return call_->code(); }
  const Headers& headers() const noexcept override { return call_->headers(); }
  Task<Result<std::string>> read() override { return call_->read(); }
  void cancel() override { call_->cancel(); }
  const Headers& trailers() const noexcept override { return call_->trailers(); }
  CertificateFlaws certificate_flaws() const noexcept override { return call_->peer(); }

 private:
  const RemoteCallRef call_;
};

class RemoteClient final : public HttpClient {
 public:
  RemoteClient(IoLoop& loop, LoopPool* callers, std::shared_ptr<PoolShare> share, std::shared_ptr<CredentialFiles> files)
      : share_(std::move(share)), files_(std::move(files)), callers_(callers), shared_(std::make_shared<RemotePool>(loop, share_)) {
    if (callers_ != nullptr) own_.resize(callers_->size());
  }
  ~RemoteClient() override {
    own_.push_back(shared_);
    for (const auto& pool : own_) {
      if (pool) pool->loop().post([pool] { pool->close(); });
    }
  }

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    if (files_->due()) co_await files_->refresh();
    const auto share = share_;  // the code after the co_await does not use the client, which may be destroyed meanwhile
    const bool upgrade = call.upgrade;
    const Begun begun = begin(std::move(call), nullptr);
    std::unique_ptr<HttpAnswer> answer = std::make_unique<RemoteAnswer>(begun.state);
    if (!upgrade && !feed(*share, begun.state)) co_return service_unavailable("the server is stopping");
    RemoteCall::HeadWait waiting(*begun.state);
    Status head = co_await waiting;
    if (!head.ok()) {
      begun.metrics.failed();
      co_return head;
    }
    begun.metrics.answered(begun.state->code());
    // The body of an upgrade: the bytes that the caller sends in the new protocol.
    if (upgrade && begun.state->code() == 101 && !feed(*share, begun.state)) co_return service_unavailable("the server is stopping");
    co_return std::move(answer);
  }

  Task<Result<WholeAnswer>> call_whole(HttpCall call, AnswerLimit limit) override {
    if (call.upgrade) co_return bad_request("call_whole() does not support upgrades");
    if (files_->due()) co_await files_->refresh();
    const auto share = share_;  // the code after the co_await does not use the client, which may be destroyed meanwhile
    const Begun begun = begin(std::move(call), &limit);
    if (!feed(*share, begun.state)) begun.state->break_off(service_unavailable("the server is stopping"));
    RemoteCall::WholeWait waiting(*begun.state);
    Result<WholeAnswer> response = co_await waiting;
    if (response.ok()) {
      begun.metrics.answered(response->code);
    } else {
      begun.metrics.failed();
    }
    co_return response;
  }

 private:
  struct Begun {
    RemoteCallRef state;
    CallMetrics metrics;
  };
  // Starts the call with the client's header fields and time limit. `limit`: the limit of call_whole(); null for call().
  Begun begin(HttpCall&& call, const AnswerLimit* limit) {
    auto credentials = files_->current();
    const ClientConfig& config = share_->config;
    if (!credentials->token.empty()) call.headers.emplace_back("Authorization", "Bearer " + credentials->token);
    if (find_header(call.headers, "User-Agent").empty()) call.headers.emplace_back("User-Agent", config.user_agent);
    if (call.deadline == kNever && !call.lasting && !call.upgrade && config.call_timeout.count() > 0) {
      call.deadline = std::chrono::steady_clock::now() + config.call_timeout;
    }
    const std::shared_ptr<RemotePool>& pool = pool_here();
    const auto state = std::make_shared<RemoteCall>(std::move(call), pool->loop());
    if (limit != nullptr) state->expect_whole(*limit);
    const HttpCall& request = state->request();
    Begun begun{state, metrics_of(request)};
    if (!request.body_source) begun.metrics.sent(request.body.size());
    if (current_executor() == &pool->loop()) {
      pool->submit(state, std::move(credentials));
    } else {
      pool->loop().post([pool, state, credentials = std::move(credentials)] { pool->submit(state, credentials); });
    }
    if (request.breaker) request.breaker->attach(state);
    return begun;
  }
  // The "host" label of the metrics is the Host field, if the caller has set one (as for Services), otherwise the server's address.
  CallMetrics metrics_of(const HttpCall& call) {
    const std::string_view named = find_header(call.headers, "Host");
    return named.empty() ? CallMetrics(call.method, share_->series) : CallMetrics(call.method, named);
  }
  // own_[i] is created and used on loop i only, so own_ needs no lock.
  const std::shared_ptr<RemotePool>& pool_here() {
    Executor* const here = current_executor();
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (&callers_->loop(i) != here) continue;
      if (own_[i] == nullptr) own_[i] = std::make_shared<RemotePool>(callers_->loop(i), share_);
      return own_[i];
    }
    return shared_;
  }
  // Sends the streamed body, if there is one. False: the server is stopping.
  static bool feed(PoolShare& share, const RemoteCallRef& call) {
    const auto& source = call->request().body_source;
    return source == nullptr || share.tasks.spawn(*current_executor(), "request-body", send_body(call, source));
  }

  const std::shared_ptr<PoolShare> share_;
  const std::shared_ptr<CredentialFiles> files_;
  LoopPool* const callers_;
  const std::shared_ptr<RemotePool> shared_;      // used by calls from executors that are not in callers_
  std::vector<std::shared_ptr<RemotePool>> own_;  // by the index of the loop
};

}  // namespace

Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, TaskGroup& tasks, ClientConfig config, LoopPool* callers) {
  auto address = parse_server_url(config);
  if (!address.ok()) return std::move(address).status();
  auto files = CredentialFiles::load(config);
  if (!files.ok()) return std::move(files).status();
  auto share = std::make_shared<PoolShare>(std::move(config), std::move(*address), tasks);
  return std::shared_ptr<HttpClient>(std::make_shared<RemoteClient>(loop, callers, std::move(share), std::move(*files)));
}

}  // namespace backplane

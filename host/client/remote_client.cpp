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
    const auto files = files_;
    if (files->may_change()) co_await files->refresh();
    const auto credentials = files->current();
    if (!credentials->token.empty()) call.headers.emplace_back("Authorization", "Bearer " + credentials->token);
    if (find_header(call.headers, "User-Agent").empty()) call.headers.emplace_back("User-Agent", share_->config.user_agent);
    if (call.deadline == kNever && !call.lasting && !call.upgrade && share_->config.call_timeout.count() > 0) {
      call.deadline = std::chrono::steady_clock::now() + share_->config.call_timeout;
    }
    const auto source = call.body_source;
    const bool upgrade = call.upgrade;
    const auto breaker = call.breaker;
    const std::shared_ptr<RemotePool>& pool = pool_here();
    const CallMetrics metrics(call.method, host_of(call));
    if (!source) metrics.sent(call.body.size());
    auto state = std::make_shared<RemoteCall>(std::move(call), pool->loop());
    std::unique_ptr<HttpAnswer> answer = std::make_unique<RemoteAnswer>(state);
    if (current_executor() == &pool->loop()) {
      pool->submit(state, credentials);
    } else {
      pool->loop().post([pool, state, credentials] { pool->submit(state, credentials); });
    }
    if (breaker) breaker->attach(breaking(state));
    if (source && !upgrade && !feed(state, source)) co_return service_unavailable("the server is stopping");
    RemoteCall::HeadWait waiting(*state);
    Status begun = co_await waiting;
    if (!begun.ok()) {
      metrics.failed();
      co_return begun;
    }
    metrics.answered(state->code());
    // The caller's bytes for the upgraded protocol.
    if (source && upgrade && state->code() == 101 && !feed(state, source)) co_return service_unavailable("the server is stopping");
    co_return std::move(answer);
  }

 private:
  // The name that the caller has given, as for services, or the server's address.
  std::string_view host_of(const HttpCall& call) const {
    const std::string_view named = find_header(call.headers, "Host");
    const std::string_view server = share_->config.server;
    const auto scheme = server.find("://");
    return !named.empty() ? named : scheme == std::string_view::npos ? server : server.substr(scheme + 3);
  }
  // Only a loop itself creates and uses the pool with its index.
  const std::shared_ptr<RemotePool>& pool_here() {
    Executor* const here = current_executor();
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (&callers_->loop(i) != here) continue;
      if (own_[i] == nullptr) own_[i] = std::make_shared<RemotePool>(callers_->loop(i), share_);
      return own_[i];
    }
    return shared_;
  }
  static std::function<void(Status)> breaking(std::weak_ptr<RemoteCall> weak) {
    return [weak](Status why) {
      if (const auto call = weak.lock()) call->break_off(std::move(why));
    };
  }
  bool feed(RemoteCallRef call, std::shared_ptr<BodySource> source) {
    return share_->tasks.spawn(*current_executor(), "request-body", send_body(std::move(call), std::move(source)));
  }

  const std::shared_ptr<PoolShare> share_;
  const std::shared_ptr<CredentialFiles> files_;
  LoopPool* const callers_;
  const std::shared_ptr<RemotePool> shared_;      // for calls on other executors
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

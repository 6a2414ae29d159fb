#include "client/remote_client.hpp"

#include <algorithm>

#include "client/client_credentials.hpp"
#include "client/remote_connection.hpp"
#include "http/header_text.hpp"

namespace backplane {
namespace {

constexpr int kTries = 2;
constexpr auto kNever = std::chrono::steady_clock::time_point::max();

// Hands the pieces of a body on as they are made.
Task<void> send_body(RemoteCallRef call, std::shared_ptr<BodySource> source) {
  for (bool more = true; more;) {
    Result<std::string> piece;
    try {
      auto making = source->next();
      piece = co_await std::move(making);
    } catch (const std::exception& thrown) {
      piece = internal_error(thrown.what());
    } catch (...) {
      piece = internal_error("an exception of unknown type");
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

 private:
  const RemoteCallRef call_;
};

// Connections and the calls that wait for one.  On the loop, all of it.
class Pool final : public RemoteConnection::Owner, public std::enable_shared_from_this<Pool> {
 public:
  Pool(IoLoop& loop, TaskGroup& tasks, ClientConfig config, RemoteAddress address)
      : loop_(loop), tasks_(tasks), config_(std::move(config)), address_(std::move(address)) {}

  IoLoop& loop() noexcept { return loop_; }
  const ClientConfig& config() const noexcept { return config_; }

  void submit(RemoteCallRef call, std::shared_ptr<const ClientCredentials> credentials) {
    use(std::move(credentials));
    watch(call);
    submit(std::move(call));
  }
  void submit(RemoteCallRef call) {
    // What a connection that has gone has left behind.
    call->on_read = nullptr;
    call->on_cancel = nullptr;
    call->on_body = nullptr;
    if (closed_) return call->fail(service_unavailable("the client has been closed"));
    ++call->tries;
    waiting_.push_back(std::move(call));
    serve();
  }
  void close() {
    closed_ = true;
    const Status why = service_unavailable("the client has been closed");
    for (const RemoteCallRef& call : std::exchange(waiting_, {})) call->fail(why);
    for (const auto& connection : std::vector(connections_)) connection->close(why);
  }

  // RemoteConnection::Owner
  void connection_ready(RemoteConnection&) override { serve(); }
  void connection_closed(RemoteConnection& connection, std::vector<RemoteCallRef> again, const Status& why) override {
    std::erase_if(connections_, [&](const auto& one) { return one.get() == &connection; });
    for (RemoteCallRef& call : again) {
      if (call->tries < kTries) {
        submit(std::move(call));
      } else {
        call->fail(why);
      }
    }
    if (!connection.open_yet() && connections_.empty()) {
      // Nobody else will serve those who wait.
      for (const RemoteCallRef& call : std::exchange(waiting_, {})) call->fail(why);
    }
    serve();
  }

 private:
  // Ends the call at its deadline; a call that is over has no timer.
  void watch(const RemoteCallRef& call) {
    const auto deadline = call->request().deadline;
    if (deadline == kNever || call->over()) return;
    call->on_over = loop_.after(deadline - std::chrono::steady_clock::now(), [weak = std::weak_ptr<RemoteCall>(call)] {
      const auto late = weak.lock();
      if (!late || late->over()) return;
      if (late->on_cancel) late->on_cancel();
      late->fail(Status(Reason::kTimeout, "context deadline exceeded"));
    });
  }
  // The newest that a call has brought.  A connection keeps what it began with.
  void use(std::shared_ptr<const ClientCredentials> credentials) {
    if (credentials_ != nullptr && credentials_->generation >= credentials->generation) return;
    const bool newer = credentials_ != nullptr && credentials_->context.get() != credentials->context.get();
    credentials_ = std::move(credentials);
    if (!newer) return;
    for (const auto& connection : std::vector(connections_)) connection->retire();
  }
  void serve() {
    while (!closed_ && !waiting_.empty()) {
      if (waiting_.front()->over()) {
        waiting_.pop_front();
        continue;
      }
      const bool alone = waiting_.front()->request().upgrade;
      const auto free = std::find_if(connections_.begin(), connections_.end(), [](const auto& one) { return one->can_take(); });
      std::shared_ptr<RemoteConnection> connection;
      if (!alone && free != connections_.end()) {
        connection = *free;
      } else if (waiting_.front()->lasting() && lasting_connections() >= config_.max_lasting_connections) {
        waiting_.front()->fail(too_many_requests("lasting calls keep " + std::to_string(config_.max_lasting_connections) +
                                                     " connections to " + address_.authority + ", which is as many as may be",
                                                 1));
        waiting_.pop_front();
        continue;
      } else if (!alone && must_wait()) {
        return;
      } else {
        connection = std::make_shared<RemoteConnection>(weak_from_this(), RemoteConnection::Place{loop_, tasks_}, config_, address_,
                                                        credentials_->context.get(), alone);
        connections_.push_back(connection);
        connection->open();
      }
      RemoteCallRef call = std::move(waiting_.front());
      waiting_.pop_front();
      connection->take(std::move(call));
    }
  }
  std::size_t lasting_connections() const {
    const auto kept = [](const auto& one) { return !one->retired() && one->kept_by_lasting(); };
    return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), kept));
  }
  // A connection that opens may turn out to take many calls.
  bool must_wait() const {
    const auto current = [](const auto& one) { return !one->retired() && !one->kept_by_lasting(); };
    const auto opening = [](const auto& one) { return !one->retired() && !one->alone() && !one->open_yet(); };
    const auto count = static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), current));
    return count >= config_.max_connections || (config_.http2 && std::any_of(connections_.begin(), connections_.end(), opening));
  }

  IoLoop& loop_;
  TaskGroup& tasks_;
  const ClientConfig config_;
  const RemoteAddress address_;
  std::shared_ptr<const ClientCredentials> credentials_;
  std::vector<std::shared_ptr<RemoteConnection>> connections_;
  std::deque<RemoteCallRef> waiting_;
  bool closed_ = false;
};

class RemoteClient final : public HttpClient {
 public:
  RemoteClient(std::shared_ptr<Pool> pool, std::shared_ptr<CredentialFiles> files, TaskGroup& tasks)
      : pool_(std::move(pool)), files_(std::move(files)), tasks_(tasks) {}
  ~RemoteClient() override {
    pool_->loop().post([pool = pool_] { pool->close(); });
  }

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const auto files = files_;
    co_await files->refresh();
    const auto credentials = files->current();
    if (!credentials->token.empty()) call.headers.emplace_back("Authorization", "Bearer " + credentials->token);
    if (find_header(call.headers, "User-Agent").empty()) call.headers.emplace_back("User-Agent", pool_->config().user_agent);
    if (call.deadline == kNever && !call.lasting && !call.upgrade && pool_->config().call_timeout.count() > 0) {
      call.deadline = std::chrono::steady_clock::now() + pool_->config().call_timeout;
    }
    const auto source = call.body_source;
    const bool upgrade = call.upgrade;
    const auto breaker = call.breaker;
    auto state = std::make_shared<RemoteCall>(std::move(call), pool_->loop());
    std::unique_ptr<HttpAnswer> answer = std::make_unique<RemoteAnswer>(state);
    pool_->loop().post([pool = pool_, state, credentials] { pool->submit(state, credentials); });
    if (breaker) breaker->attach(breaking(state));
    if (source && !upgrade && !feed(state, source)) co_return service_unavailable("the server is stopping");
    Status begun = co_await state->wait_head();
    if (!begun.ok()) co_return begun;
    // What the caller has to say to the other protocol.
    if (source && upgrade && state->code() == 101 && !feed(state, source)) co_return service_unavailable("the server is stopping");
    co_return std::move(answer);
  }

 private:
  static std::function<void(Status)> breaking(std::weak_ptr<RemoteCall> weak) {
    return [weak](Status why) {
      if (const auto call = weak.lock()) call->break_off(std::move(why));
    };
  }
  bool feed(RemoteCallRef call, std::shared_ptr<BodySource> source) {
    return tasks_.spawn(*current_executor(), "request-body", send_body(std::move(call), std::move(source)));
  }

  const std::shared_ptr<Pool> pool_;
  const std::shared_ptr<CredentialFiles> files_;
  TaskGroup& tasks_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, TaskGroup& tasks, ClientConfig config) {
  auto address = parse_server_url(config);
  if (!address.ok()) return std::move(address).status();
  auto files = CredentialFiles::load(config);
  if (!files.ok()) return std::move(files).status();
  auto pool = std::make_shared<Pool>(loop, tasks, std::move(config), std::move(*address));
  return std::shared_ptr<HttpClient>(std::make_shared<RemoteClient>(std::move(pool), std::move(*files), tasks));
}

}  // namespace backplane

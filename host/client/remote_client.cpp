#include "client/remote_client.hpp"

#include <openssl/pem.h>

#include <algorithm>

#include "client/remote_connection.hpp"

namespace backplane {
namespace {

constexpr int kTries = 2;

Status tls_problem(const char* what) { return bad_request(std::string(what) + ": " + openssl_error()); }

Status add_authorities(SSL_CTX* context, const std::string& pem) {
  if (pem.empty()) {
    return SSL_CTX_set_default_verify_paths(context) == 1 ? Status() : tls_problem("the system's certificate authorities");
  }
  const BioPtr bio = memory_bio(pem);
  int count = 0;
  while (X509Ptr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1) return tls_problem("a certificate authority");
    ++count;
  }
  if (count == 0) return tls_problem("the certificate authority");
  ERR_clear_error();  // the end of the text
  return {};
}

Status use_certificate(SSL_CTX* context, const ClientConfig& config) {
  if (config.client_certificate.empty()) return {};
  const BioPtr chain = memory_bio(config.client_certificate), key_bio = memory_bio(config.client_key);
  const X509Ptr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) return tls_problem("the client certificate");
  while (X509Ptr next{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}) SSL_CTX_add1_chain_cert(context, next.get());
  ERR_clear_error();
  const KeyPtr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return tls_problem("the client key");
  return {};
}

Result<SslContextPtr> make_context(const ClientConfig& config) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return tls_problem("TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), config.insecure_skip_tls_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!config.insecure_skip_tls_verify) {
    if (Status status = add_authorities(context.get(), config.certificate_authority); !status.ok()) return status;
  }
  if (Status status = use_certificate(context.get(), config); !status.ok()) return status;
  const std::string protocols = config.http2 ? std::string("\x02h2\x08http/1.1") : std::string("\x08http/1.1");
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(protocols.data()), static_cast<unsigned>(protocols.size()));
  return Result<SslContextPtr>(std::move(context));
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
  Pool(IoLoop& loop, ClientConfig config, RemoteAddress address, SslContextPtr context)
      : loop_(loop), config_(std::move(config)), address_(std::move(address)), context_(std::move(context)) {}

  IoLoop& loop() noexcept { return loop_; }
  const ClientConfig& config() const noexcept { return config_; }

  void submit(RemoteCallRef call) {
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
  void serve() {
    while (!closed_ && !waiting_.empty()) {
      if (waiting_.front()->over()) {
        waiting_.pop_front();
        continue;
      }
      const auto free = std::find_if(connections_.begin(), connections_.end(), [](const auto& one) { return one->can_take(); });
      std::shared_ptr<RemoteConnection> connection;
      if (free != connections_.end()) {
        connection = *free;
      } else if (must_wait()) {
        return;
      } else {
        connection = std::make_shared<RemoteConnection>(weak_from_this(), loop_, config_, address_, context_.get());
        connections_.push_back(connection);
        connection->open();
      }
      RemoteCallRef call = std::move(waiting_.front());
      waiting_.pop_front();
      connection->take(std::move(call));
    }
  }
  // A connection that opens may turn out to take many calls.
  bool must_wait() const {
    const bool opening = std::any_of(connections_.begin(), connections_.end(), [](const auto& one) { return !one->open_yet(); });
    return connections_.size() >= config_.max_connections || (opening && config_.http2);
  }

  IoLoop& loop_;
  const ClientConfig config_;
  const RemoteAddress address_;
  const SslContextPtr context_;
  std::vector<std::shared_ptr<RemoteConnection>> connections_;
  std::deque<RemoteCallRef> waiting_;
  bool closed_ = false;
};

class RemoteClient final : public HttpClient {
 public:
  explicit RemoteClient(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
  ~RemoteClient() override {
    pool_->loop().post([pool = pool_] { pool->close(); });
  }

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const ClientConfig& config = pool_->config();
    if (!config.token.empty()) call.headers.emplace_back("Authorization", "Bearer " + config.token);
    call.headers.emplace_back("User-Agent", config.user_agent);
    const auto deadline = call.deadline;
    auto state = std::make_shared<RemoteCall>(std::move(call), pool_->loop());
    std::unique_ptr<HttpAnswer> answer = std::make_unique<RemoteAnswer>(state);
    pool_->loop().post([pool = pool_, state] { pool->submit(state); });
    if (deadline != std::chrono::steady_clock::time_point::max()) watch(state, deadline);
    Status begun = co_await state->wait_head();
    if (!begun.ok()) co_return begun;
    co_return std::move(answer);
  }

 private:
  void watch(const RemoteCallRef& state, std::chrono::steady_clock::time_point deadline) {
    pool_->loop().after(deadline - std::chrono::steady_clock::now(), [weak = std::weak_ptr<RemoteCall>(state)] {
      const auto call = weak.lock();
      if (!call || call->over()) return;
      if (call->on_cancel) call->on_cancel();
      call->fail(timeout("the call took too long", 0));
    });
  }

  const std::shared_ptr<Pool> pool_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, ClientConfig config) {
  auto address = parse_server_url(config);
  if (!address.ok()) return std::move(address).status();
  auto context = make_context(config);
  if (!context.ok()) return std::move(context).status();
  auto pool = std::make_shared<Pool>(loop, std::move(config), std::move(*address), std::move(*context));
  return std::shared_ptr<HttpClient>(std::make_shared<RemoteClient>(std::move(pool)));
}

}  // namespace backplane

#include "cluster.hpp"

namespace backplane::etcd {
namespace {

// As kube-apiserver's client: a connection that says nothing is asked whether it is alive.
constexpr int kKeepAliveMs = 30'000;
constexpr int kKeepAliveTimeoutMs = 10'000;
constexpr int kMaxReconnectMs = 3'000;
constexpr int kConnectMs = 5'000;  // what a connection may take (gRPC's name for it says something else)
constexpr int kUnbounded = -1;     // answers are as large as lists

std::shared_ptr<grpc::ChannelCredentials> credentials(const Settings& settings, const Endpoint& endpoint) {
  if (!endpoint.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = settings.authorities;
  options.pem_cert_chain = settings.certificate;
  options.pem_private_key = settings.key;
  return grpc::SslCredentials(options);
}

Server connect(const Settings& settings, const Endpoint& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepAliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetMaxReceiveMessageSize(kUnbounded);
  arguments.SetMaxSendMessageSize(kUnbounded);
  // Two stores of one process (tests) do not share what the other's end would close.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  Server server;
  server.shown = endpoint.shown;
  server.channel = grpc::CreateCustomChannel(endpoint.address, credentials(settings, endpoint), arguments);
  server.kv = etcdserverpb::KV::NewStub(server.channel);
  server.watch = etcdserverpb::Watch::NewStub(server.channel);
  server.lease = etcdserverpb::Lease::NewStub(server.channel);
  server.maintenance = etcdserverpb::Maintenance::NewStub(server.channel);
  return server;
}

}  // namespace

Cluster::Cluster(const Settings& settings) {
  for (const auto& endpoint : settings.endpoints) servers_.push_back(connect(settings, endpoint));
}

Cluster::~Cluster() = default;

const Server& Cluster::server() {
  const std::size_t first = current_.load();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Server& server = servers_[(first + i) % servers_.size()];
    if (server.channel->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) return server;
  }
  return servers_[first % servers_.size()];
}

void Cluster::pass_over(const Server& failed) {
  std::size_t at = static_cast<std::size_t>(&failed - servers_.data());
  current_.compare_exchange_strong(at, (at + 1) % servers_.size());
}

bool Cluster::enter(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  if (stopping_.load()) return false;
  running_.insert(context);
  return true;
}

void Cluster::leave(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  running_.erase(context);
  if (stopping_.load() && running_.empty()) idle_.set(true);
}

Task<void> Cluster::stop() {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !stopping_.exchange(true);
    for (grpc::ClientContext* context : running_) context->TryCancel();
    if (running_.empty()) idle_.set(true);
  }
  if (!first) co_return;
  bool ended = co_await idle_.future();
  (void)ended;
}

}  // namespace backplane::etcd

#include "cluster.hpp"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <absl/synchronization/mutex.h>

#include <algorithm>

namespace backplane::etcd {
namespace {

constexpr int kMaxReconnectMs = 3'000;
constexpr int kConnectMs = 5'000;  // what a connection may take (gRPC's name for it says something else)
constexpr int kUnbounded = -1;     // answers are as large as lists
constexpr int kWindow = 4 * 1024 * 1024, kReadBytes = 64 * 1024;

// How often the files of certificates are looked at; connections made later are made with what is in them then.
constexpr unsigned kReloadSeconds = 1;
constexpr std::chrono::milliseconds kFirstPause{25}, kLongestPause{200};

namespace tls = grpc::experimental;

// Of all servers together: one thread looks after the files.  Null: there are none.
std::shared_ptr<tls::CertificateProviderInterface> watch_files(const Settings& settings) {
  if (settings.authorities_file.empty() && settings.certificate_file.empty()) return nullptr;
  return std::make_shared<tls::FileWatcherCertificateProvider>(settings.key_file, settings.certificate_file, settings.authorities_file,
                                                               kReloadSeconds);
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const Settings& settings, const Endpoint& endpoint,
                                                      const std::shared_ptr<tls::CertificateProviderInterface>& files) {
  if (!endpoint.tls) return grpc::InsecureChannelCredentials();
  tls::TlsChannelCredentialsOptions options;
  if (files) options.set_certificate_provider(files);
  if (!settings.authorities_file.empty()) options.watch_root_certs();
  if (!settings.certificate_file.empty()) options.watch_identity_key_cert_pairs();
  return tls::TlsCredentials(options);
}

Server connect(const Settings& settings, const Endpoint& endpoint, const std::shared_ptr<grpc::ChannelCredentials>& as_whom) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(settings.keep_alive.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(settings.keep_alive_timeout.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetMaxReceiveMessageSize(kUnbounded);
  arguments.SetMaxSendMessageSize(kUnbounded);
  // What is to be tried again is decided here, call by call (again()).
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  // Answers are as large as lists: a window that need not grow first, and no pings to find out how large it should be.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindow);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadBytes);
  // Two stores of one process (tests) do not share what the other's end would close.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  Server server;
  server.shown = endpoint.shown;
  server.channel = grpc::CreateCustomChannel(endpoint.address, as_whom, arguments);
  server.kv = etcdserverpb::KV::NewStub(server.channel);
  server.watch = etcdserverpb::Watch::NewStub(server.channel);
  server.lease = etcdserverpb::Lease::NewStub(server.channel);
  server.maintenance = etcdserverpb::Maintenance::NewStub(server.channel);
  return server;
}

}  // namespace

Cluster::Cluster(const Settings& settings) {
  // Distributions build it with a search for deadlocks at every lock of gRPC's.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const auto files = watch_files(settings);
  for (const auto& endpoint : settings.endpoints) servers_.push_back(connect(settings, endpoint, credentials(settings, endpoint, files)));
}

Cluster::~Cluster() {
  // Nobody is told of an answer once the thread of the answers has ended.
  stopping_.store(true);
  const std::lock_guard lock(mutex_);
  for (grpc::ClientContext* context : running_) context->TryCancel();
}

const Server& Cluster::server() {
  if (servers_.size() == 1) return servers_.front();  // the call itself has it connected
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

std::optional<std::chrono::milliseconds> Cluster::again(const grpc::Status& status, const Server& asked, bool reads, std::size_t tries,
                                                        Clock::duration so_far) {
  const bool silent = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  const bool away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  if (away || silent) pass_over(asked);
  if (silent && reads && !stopping() && tries < size()) return std::chrono::milliseconds(0);
  if (!away || stopping() || !(reads || never_arrived(status))) return std::nullopt;
  if (tries < size()) return std::chrono::milliseconds(0);
  // A connection that broke says nothing of the server behind it.
  if (!never_arrived(status) && !is_electing(status) && tries < 2 * size()) return kFirstPause;
  // All of them have been asked: who cannot be reached is not there in a moment either, but a leader may be.
  if (!is_electing(status) || so_far > kElection) return std::nullopt;
  return std::min(kLongestPause, kFirstPause * static_cast<std::int64_t>(1 + tries / size()));
}

void Cluster::require_leader(grpc::ClientContext& context) { context.AddMetadata("hasleader", "true"); }

bool Cluster::enter(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  if (stopping_.load()) return false;
  if (context == nullptr) {
    ++turns_;
  } else {
    running_.insert(context);
  }
  return true;
}

void Cluster::leave(grpc::ClientContext* context) {
  const Promise<bool> idle = idle_;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (context == nullptr) {
      --turns_;
    } else {
      running_.erase(context);
    }
    last = stopping_.load() && running_.empty() && turns_ == 0;
  }
  // Who hears of it may let the cluster go.
  if (last) idle.set(true);
}

Task<void> Cluster::stop() {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !stopping_.exchange(true);
    for (grpc::ClientContext* context : running_) context->TryCancel();
    if (running_.empty() && turns_ == 0) idle_.set(true);
  }
  if (!first) co_return;
  bool ended = co_await idle_.future();
  (void)ended;
}

}  // namespace backplane::etcd

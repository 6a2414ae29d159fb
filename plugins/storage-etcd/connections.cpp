#include "connections.hpp"

#include <algorithm>
#include <filesystem>

namespace backplane::etcd {
namespace {

// The initial flow control windows are large, because responses may contain whole lists.
constexpr std::uint32_t kStreamWindow = 4 * 1024 * 1024, kConnectionWindow = 16 * 1024 * 1024;
constexpr std::chrono::seconds kConnect{5};
// Idle connections are kept for this time, so that the next request of the loop need not wait for a handshake.
constexpr std::chrono::hours kIdle{1};
// The keep-alive values if there are several servers, so that the connection of an unresponsive server is closed early. The interval
// exceeds five seconds, because etcd closes connections that send PINGs more often (--grpc-keepalive-min-time).
constexpr std::chrono::milliseconds kKeepAliveOfSeveral{5'500}, kKeepAliveTimeoutOfSeveral{1'000};

std::string url_of(const Endpoint& endpoint) {
  constexpr std::string_view kUnix = "unix:";
  const std::string& address = endpoint.address;
  if (address.starts_with(kUnix)) return "unix://" + std::filesystem::absolute(address.substr(kUnix.size())).string();
  return (endpoint.tls ? "https://" : "http://") + address.substr(address.find(':') + 1);
}

}  // namespace

ClientConfig client_config(const Settings& settings, const Endpoint& endpoint) {
  ClientConfig config;
  config.server = url_of(endpoint);
  config.http2_prior_knowledge = true;
  config.stream_window = kStreamWindow;
  config.connection_window = kConnectionWindow;
  config.connect_timeout = kConnect;
  config.idle_timeout = kIdle;
  config.keep_alive = settings.keep_alive;
  config.keep_alive_timeout = settings.keep_alive_timeout;
  if (settings.endpoints.size() > 1) {
    config.keep_alive = std::min(config.keep_alive, kKeepAliveOfSeveral);
    config.keep_alive_timeout = std::min(config.keep_alive_timeout, kKeepAliveTimeoutOfSeveral);
  }
  if (!endpoint.tls) return config;
  config.certificate_authority_file = settings.authorities_file;
  config.client_certificate_file = settings.certificate_file;
  config.client_key_file = settings.key_file;
  return config;
}

Result<std::vector<Server>> make_servers(const Settings& settings, const StoreConnections& connections) {
  std::vector<Server> servers;
  for (const Endpoint& endpoint : settings.endpoints) {
    auto client = connections.make_client(client_config(settings, endpoint));
    if (!client.ok()) return std::move(client).status();
    servers.push_back({endpoint.shown, std::move(*client)});
  }
  return servers;
}

}  // namespace backplane::etcd

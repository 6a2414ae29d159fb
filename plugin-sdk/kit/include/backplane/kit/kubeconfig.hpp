// Reads the server to which a kubeconfig file refers, for connections of webhooks (--authorization-webhook-config-file and similar flags).
//
// Supports everything that client-go uses for a request, except proxy-url, exec and auth-provider, which are errors. The client reads the
// files of certificates, keys and tokens, and reloads them (ClientConfig). Relative paths are relative to the folder of the kubeconfig.
//
// Thread-safety: pure functions; read_kubeconfig() blocks for reading a small file.
// Errors:        kBadRequest. The message begins with the path of the kubeconfig and names the field. It never contains secrets.
// Source:        client-go/tools/clientcmd (loader.go, validation.go, client_config.go), client-go/rest/url_utils.go.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

struct KubeconfigServer {
  // `server` is "https://host:port" without the path. The caller adds limits, timeouts, the user agent and the dial function.
  ClientConfig client;
  std::string path;  // the path of the server's URL, without a trailing slash; "/" if it has none
  // Sent with every call: Authorization for a user with a password, Impersonate-* for a user with `as`.
  Headers headers;
};

// Reads the cluster and the user of the current context. `file`: the path for messages and for relative paths.
//
//   auto server = kit::read_kubeconfig(path);
//   if (!server.ok()) return std::move(server).status();
//   auto client = host.make_client(server->client);
Result<KubeconfigServer> read_kubeconfig(const std::string& file);
Result<KubeconfigServer> parse_kubeconfig(std::string_view text, const std::string& file);

}  // namespace BACKPLANE_API
}  // namespace backplane

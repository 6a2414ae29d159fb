// The server that a kubeconfig file names: connections of webhooks (--authorization-webhook-config-file and similar flags).
//
// Supported: everything that client-go uses for a request, except proxy-url, exec and auth-provider, which are errors. The content of
// certificate, key and token files is read by the client, which also reloads them (ClientConfig). Relative paths are relative to the
// folder of the kubeconfig.
// Thread-safety: pure functions; read_kubeconfig() blocks for a small file.
// Errors:        kBadRequest; the message begins with the path of the kubeconfig and names the field. Secrets are never part of it.
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
  std::string path;  // of the server's URL, without the trailing slash; "/" if it has none
  // Sent with every call: Authorization for a user with a password, Impersonate-* for a user with `as`.
  Headers headers;
};

// The cluster and the user of the current context. `file`: for messages and relative paths.
//
//   auto server = kit::read_kubeconfig(path);
//   if (!server.ok()) return std::move(server).status();
//   auto client = host.make_client(server->client);
Result<KubeconfigServer> read_kubeconfig(const std::string& file);
Result<KubeconfigServer> parse_kubeconfig(std::string_view text, const std::string& file);

}  // namespace BACKPLANE_API
}  // namespace backplane

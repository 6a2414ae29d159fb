// A reverse proxy for one request (httputil.ReverseProxy with apimachinery's UpgradeAwareHandler): request and response are streamed in
// both directions.
//
// The backend is an HttpClient (Host::make_client). Its ClientConfig determines pooling, protocol, TLS, reload, dial function and timeouts.
// Make one client for each backend and keep it: a client that is made for each request pools no connections.
//              hop-by-hop headers (Connection and the headers it names, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade, Proxy-*) and
//              without credentials (Authorization, X-Remote-*, Impersonate-*, bearer tokens in Sec-WebSocket-Protocol). X-Forwarded-For
//              is extended by the client's address; Audit-Id is this server's.
//   Response   Code, headers and body are forwarded. Each part is forwarded at once (watches, followed logs), but no faster than the client
//              reads. Hop-by-hop headers and Access-Control-Allow-* are removed. Redirects are forwarded or refused, never followed.
//   Upgrade    A request to upgrade gets a separate connection to the backend. After 101, the raw bytes are forwarded in both directions
//              (WebSocket, SPDY) until one side ends. If the client closes the connection, or if the deadline passes, the call to the
//              backend is aborted.
//
// Thread-safety: call proxy() on the executor of the request; its coroutine ends on that executor.
// Lifetime:      context and exchange must live until the task ends. The task owns `call`, and thereby shares ownership of the client.
// Errors:        before the response head is sent, ProxyCall::answer_error sends the error: kServiceUnavailable "error trying to reach
//                service: …"; kBadRequest "Upgrade request required"; 500 with upstream's text for a failed upgrade ("error dialing
//                backend: …", "invalid upgrade response: status code 200"). If the backend's response breaks off after that, the response
//                to the client is aborted too, so that the client does not take it for complete.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// Sends `status` as the response. Nothing has been sent to `exchange` before.
using ErrorAnswer = std::function<Task<void>(RequestContext& context, Exchange& exchange, Status status)>;
// Sends a JSON metav1.Status with its code.
Task<void> answer_with_status(RequestContext& context, Exchange& exchange, Status status);

// The settings for one call of proxy().
//
//   ProxyCall call;
//   call.backend = client_;
//   call.target = std::string(exchange.target());
//   co_await proxy(context, exchange, std::move(call));
struct ProxyCall {
  std::shared_ptr<HttpClient> backend;
  std::string target;  // path[?query], escaped, as sent to the backend
  // Headers that replace the client's headers with the same names. If several have the same name, all of them are sent. An empty value
  // removes the header.
  Headers headers;
  std::string host;  // the Host header; empty: the backend's address
  // True: a 3xx response with a Location header is refused with 502.
  bool reject_redirects = false;
  // True: a request that is not an upgrade is refused.
  bool upgrade_required = false;
  // True: the proxy sends X-Forwarded-Host and X-Forwarded-Proto (unless the values below are empty) and X-Forwarded-Uri (`path_prefix`
  // followed by the path of `target`). If a Location header of the response names the backend's host, it is changed to name a path of this
  // proxy.
  bool forwards_uri = true;
  std::string forwarded_host;
  std::string forwarded_proto;
  std::string path_prefix;  // the part of this server's path before the backend's path: "/api/v1/namespaces/a/pods/b/proxy"
  // The limit for the whole call, in addition to the request's deadline; 0: no additional limit.
  std::chrono::milliseconds timeout{0};
  ErrorAnswer answer_error = answer_with_status;
};

// Forwards the request and sends the backend's response, or the error.
Task<void> proxy(RequestContext& context, Exchange& exchange, ProxyCall call);

// True if the request asks for an upgrade (httpstream.IsUpgradeRequest).
bool is_upgrade_request(const Exchange& exchange);

// Returns the headers that name the user to a backend that trusts this server's certificate: X-Remote-User, X-Remote-Uid (unless it is
// empty), X-Remote-Group and X-Remote-Extra-*.
Headers identity_headers(const UserInfo& user);

}  // namespace BACKPLANE_API

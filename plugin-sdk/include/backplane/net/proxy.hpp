// A reverse proxy for one request (httputil.ReverseProxy with apimachinery's UpgradeAwareHandler): request and response are streamed in
// both directions.
//
// The backend is an HttpClient (Host::make_client), whose ClientConfig sets pooling, protocol, TLS, reload, dial function and timeouts.
// Make one per backend and keep it: a client made per request pools nothing.
//   Request    Method, target and body are forwarded, the body no faster than the backend reads it. Headers are the client's, without
//              hop-by-hop headers (Connection and the headers it names, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade, Proxy-*) and
//              without credentials (Authorization, X-Remote-*, Impersonate-*, bearer tokens in Sec-WebSocket-Protocol). X-Forwarded-For
//              is extended by the client's address; Audit-Id is this server's.
//   Response   Code, headers and body are forwarded, each part at once (watches, followed logs), no faster than the client reads.
//              Hop-by-hop headers and Access-Control-Allow-* are removed. Redirects are forwarded or refused, never followed.
//   Upgrade    A request to upgrade gets a separate connection to the backend. After 101 the raw bytes are forwarded in both directions
//              (WebSocket, SPDY) until one side ends. If the client closes the connection or the deadline passes, the call to the backend
//              is aborted.
//
// Thread-safety: called on the executor of the request; the coroutine ends there.
// Lifetime:      context, exchange and `call` must live until the task ends; the call owns the backend's client.
// Errors:        before the response head is sent, ProxyCall::answer_error sends them: kServiceUnavailable "error trying to reach
//                service: …"; kBadRequest "Upgrade request required"; 500 with upstream's text for a failed upgrade ("error dialing
//                backend: …", "invalid upgrade response: status code 200"). If the backend's response breaks off later, the response to
//                the client is aborted too, so that the client cannot take it for complete.
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

// Sends `status` as the response of `exchange`, to which nothing has been sent yet.
using ErrorAnswer = std::function<Task<void>(RequestContext& context, Exchange& exchange, Status status)>;
// Sends a JSON metav1.Status with its code.
Task<void> answer_with_status(RequestContext& context, Exchange& exchange, Status status);

// What to proxy, and how.
//
//   ProxyCall call;
//   call.backend = client_;
//   call.target = std::string(exchange.target());
//   co_await proxy(context, exchange, std::move(call));
struct ProxyCall {
  std::shared_ptr<HttpClient> backend;
  std::string target;  // path[?query], escaped, as sent to the backend
  // Headers that replace the client's of the same names; several of one name are all sent. An empty value removes the header.
  Headers headers;
  std::string host;  // the Host header; empty: the backend's address
  // True: a 3xx response with a Location header is refused with 502.
  bool reject_redirects = false;
  // True: a request that is not an upgrade is refused.
  bool upgrade_required = false;
  // True: sends X-Forwarded-Host and X-Forwarded-Proto unless empty, and X-Forwarded-Uri (`path_prefix` and the path of `target`), and
  // rewrites a Location that points to the backend's host so that it points through the proxy.
  bool forwards_uri = true;
  std::string forwarded_host;
  std::string forwarded_proto;
  std::string path_prefix;  // the part of this server's path before the backend's path: "/api/v1/namespaces/a/pods/b/proxy"
  // The limit for the whole call, in addition to the request's deadline; 0: none.
  std::chrono::milliseconds timeout{0};
  ErrorAnswer answer_error = answer_with_status;
};

// Forwards the request and sends the backend's response, or the error.
Task<void> proxy(RequestContext& context, Exchange& exchange, ProxyCall call);

// True if the request asks for an upgrade (httpstream.IsUpgradeRequest).
bool is_upgrade_request(const Exchange& exchange);

// The headers that name the user to a backend that trusts this server's certificate: X-Remote-User, -Uid (unless empty),
// -Group, -Extra-*.
Headers identity_headers(const UserInfo& user);

}  // namespace BACKPLANE_API

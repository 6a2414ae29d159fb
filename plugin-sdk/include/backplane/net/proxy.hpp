// A reverse proxy for one request: passes it on to another server and the answer back, both streamed (httputil.ReverseProxy behind
// apimachinery's UpgradeAwareHandler).
//
// The backend is an HttpClient (Host::make_client): pooled connections, HTTP/2 or HTTP/1.1, TLS by CA, server name and client certificate
// with reload, dial function and timeouts are its ClientConfig's.  Make one per backend and keep it: a client made per request pools
// nothing.
//   Request    Method, target and body as they are said here; the body is passed on as it comes, no faster than the backend takes it.
//              Headers are the client's without those of one connection (Connection and what it names, Keep-Alive, TE, Trailer,
//              Transfer-Encoding, Upgrade, Proxy-*), and without every credential (Authorization, X-Remote-*, Impersonate-*, bearer
//              tokens in Sec-WebSocket-Protocol).  X-Forwarded-For grows by the client's address; Audit-Id is this server's.
//   Answer     Code, headers and body as they come, each piece sent on at once (watches, followed logs), no faster than the client takes
//   it.
//              Headers of one connection and Access-Control-Allow-* are the backend's own business and stay back.  Redirects are passed on
//              or refused, never followed.
//   Upgrade    A request that asks to leave HTTP gets a connection of its own to the backend; from its 101 on bytes pass both ways as they
//              are (WebSocket, SPDY, whatever they agree on), until one side ends.
// A client that goes, or whose time is up, ends the call to the backend at once.
//
// Thread-safety: the executor of the request; the coroutine ends there.
// Lifetime:      context, exchange and `call` until the task ends; the client of the backend is kept by the call.
// Errors:        before a head is out, ProxyCall::answer_error tells them: kServiceUnavailable "error trying to reach service: …";
// kBadRequest
//                "Upgrade request required"; 500 with upstream's words for an upgrade that did not come about ("error dialing backend: …",
//                "invalid upgrade response: status code 200").  Afterwards an answer that breaks is broken off towards the client as well:
//                it is never taken for a whole one.
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

// Answers `exchange`, of which nothing has been answered yet, with `status`.
using ErrorAnswer = std::function<Task<void>(RequestContext& context, Exchange& exchange, Status status)>;
// As a JSON metav1.Status with its code.
Task<void> answer_with_status(RequestContext& context, Exchange& exchange, Status status);

struct ProxyCall {
  std::shared_ptr<HttpClient> backend;
  std::string target;  // path[?query], escaped, as the backend is to get it
  // In place of the client's headers of these names; several of one name are all sent.  An empty value: none of that name is sent.
  Headers headers;
  std::string host;  // the Host header; empty: the backend's address
  // Answers with a Location in 3xx are refused with 502.
  bool reject_redirects = false;
  // Anything but an upgrade is refused.
  bool upgrade_required = false;
  // X-Forwarded-Host and -Proto where they are not empty; X-Forwarded-Uri is `path_prefix` and the path of `target`.  A Location that leads
  // to the backend's own host is rewritten to lead through the proxy in the same way.  `forwards_uri` false: none of it.
  bool forwards_uri = true;
  std::string forwarded_host;
  std::string forwarded_proto;
  std::string path_prefix;  // of this server's path before the backend's begins: "/api/v1/namespaces/a/pods/b/proxy"
  // Of the whole call, besides the deadline of the request; 0: none.
  std::chrono::milliseconds timeout{0};
  ErrorAnswer answer_error = answer_with_status;
};

// Answers `exchange` with what the backend says, or with why it says nothing.
Task<void> proxy(RequestContext& context, Exchange& exchange, ProxyCall call);

// Whether a request asks to leave HTTP (httpstream.IsUpgradeRequest).
bool is_upgrade_request(const Exchange& exchange);

// The headers by which a backend that trusts this proxy's certificate knows on whose behalf it is asked: X-Remote-User, -Uid (unless it
// is empty), -Group, -Extra-*.
Headers identity_headers(const UserInfo& user);

}  // namespace BACKPLANE_API

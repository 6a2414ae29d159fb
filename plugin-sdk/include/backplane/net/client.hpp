// Clients: HTTP calls with streamed responses (HttpClient), and Kubernetes' verbs on JSON trees (ApiClient).
//
// Host::client() calls this server in process, through the whole handler chain. Host::make_client() calls any API server over TLS with
// HTTP/2 or HTTP/1.1 and pooled connections.
// Thread-safety: HttpClient and ApiClient from any executor; an HttpAnswer belongs to the coroutine that made the call, except for
//                cancel().
// Lifetime:      an HttpAnswer shares the client's resources that it needs; its destructor abandons the call.
// Errors:        HttpClient: the reason for a missing response (kServiceUnavailable, kTimeout, kBadRequest); a response with an error code
//                is not an error. ApiClient: the metav1.Status that the server sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// A request body that is produced while it is sent.
//
// Thread-safety: called on the executor that made the call, one part at a time.
// Lifetime:      until the last next() has ended, which may be after the answer is destroyed.
class BodySource {
 public:
  virtual ~BodySource();
  // Waits for the next part; empty at the end. Called only when the connection accepts more. An error aborts the call.
  virtual Task<Result<std::string>> next() = 0;
};

// A call that can be aborted from outside: the implementation's side of a CallBreaker.
//
// Thread-safety: break_off() may be called on any thread.
class BreakableCall {
 public:
  // Fails the call with `why`; no effect after its end.
  virtual void break_off(Status why) = 0;

 protected:
  ~BreakableCall() = default;
};

// Aborts a call from another thread or task, even before its response head has arrived.
//
// Thread-safety: any thread.
// Lifetime:      shared by caller and canceller. One CallBreaker per call.
//
//   call.breaker = std::make_shared<CallBreaker>();
//   auto answer = co_await client.call(call);            // one task
//   breaker->break_off(timeout("superseded", 0));        // another task
class CallBreaker {
 public:
  // Fails the call with `why`, or as soon as it begins. Later calls have no effect.
  void break_off(Status why);
  // True after break_off().
  bool broken() const;
  // For implementations of HttpClient: `ends` is called once with the reason, inside this call if there already is one. An empty function
  // detaches.
  void attach(std::function<void(Status why)> ends);
  // The same without a function: break_off() of `call`, if it still exists.
  void attach(std::weak_ptr<BreakableCall> call);

 private:
  mutable std::mutex mutex_;
  std::optional<Status> why_;
  std::function<void(Status why)> ends_;
  std::weak_ptr<BreakableCall> call_;
};

// One request.
struct HttpCall {
  std::string method = "GET";
  std::string target;  // path[?query]
  // Additional headers. `Host` replaces the server's name, `User-Agent` the client's.
  Headers headers;
  std::string body;
  // Replaces `body`. A call with a source is never retried.
  std::shared_ptr<BodySource> body_source = {};
  // The size of `body_source`, if known: sent as Content-Length. A source of another size aborts the call.
  std::optional<std::uint64_t> body_size = {};
  // Requests an upgrade with the Connection and Upgrade headers in `headers`. The call uses an HTTP/1.1 connection that no other call
  // shares. If code() is 101, read() returns the server's raw bytes, and `body_source`, which is not called before, supplies those to send;
  // when either side ends, the connection is closed. With another code it is an ordinary response, and the source is never called. Errors:
  // kBadRequest from clients without connections (Host::client()).
  bool upgrade = false;
  // Set to be able to abort the call from outside.
  std::shared_ptr<CallBreaker> breaker = {};
  // The limit for the whole call, including the response body. max(): ClientConfig::call_timeout applies.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // The limit for waiting for a connection; after it, the call fails with kTimeout, and never_sent() is true. max(): `deadline` applies.
  std::chrono::steady_clock::time_point send_by = std::chrono::steady_clock::time_point::max();
  // A watch or a followed log: no default time limit, and no connection that other calls could use.
  bool lasting = false;
};

// True if no server has begun to process the call that failed with `status`: repeating it is safe even if the request is not idempotent.
bool never_sent(const Status& status) noexcept;
// For implementations of HttpClient: returns `status`, marked so that never_sent() is true.
Status as_never_sent(Status status);

// Flaws in a server's certificates for which current clients reject them.
struct CertificateFlaws {
  bool no_alternative_name = false;  // the server's certificate has no SAN extension
  bool signed_with_sha1 = false;     // one of the presented certificates, other than a self-signed one
  bool any() const noexcept { return no_alternative_name || signed_with_sha1; }
};

// The response to one call.
class HttpAnswer {
 public:
  virtual ~HttpAnswer();
  // Status code and header fields of the response head. Compare names without regard to case.
  virtual int code() const noexcept = 0;
  virtual const Headers& headers() const noexcept = 0;
  // Waits for bytes of the body; empty at the end. Unread data is buffered only up to the flow-control window.
  virtual Task<Result<std::string>> read() = 0;
  // Makes a pending read() and all later ones fail. Any thread.
  virtual void cancel() = 0;
  // The trailer fields; complete once read() has returned the end. Default: none.
  virtual const Headers& trailers() const noexcept;
  // Flaws of the certificates that the server presented on the connection of this response. Default: none.
  virtual CertificateFlaws certificate_flaws() const noexcept { return {}; }
};

// The whole response to one call.
struct WholeAnswer {
  int code = 0;
  Headers headers;
  std::string body;
  Headers trailers;
  // False: the body passed the limit, so the call was abandoned. `body` then is the beginning of the body, and there are no trailers.
  bool complete = true;
};

// The limit of the body of a WholeAnswer.
struct AnswerLimit {
  std::size_t body_bytes = std::size_t{64} << 20;
  // Returns the length of the body that begins with `beginning`; 0: it does not show yet. A body that is longer, or that will be longer
  // than `body_bytes`, passes the limit. Called on any thread. Null: only `body_bytes` counts.
  std::size_t (*length_of)(std::string_view beginning) noexcept = nullptr;

  // True if the body that begins with `beginning` passes the limit.
  bool passed_by(std::string_view beginning) const noexcept;
};

// A client of one server. See Host::client() and Host::make_client().
class HttpClient {
 public:
  virtual ~HttpClient();
  // Sends the request; returns when the response head has arrived.
  virtual Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) = 0;
  // Sends the request; returns when the whole response has arrived, or when its body passes `limit`. Cheaper than call() and read() for
  // small responses. Default: call() and read(). Errors: those of call() and read(); kBadRequest for an upgrade.
  virtual Task<Result<WholeAnswer>> call_whole(HttpCall call, AnswerLimit limit = {});
};

// Reads the rest of the body. Errors: kRequestEntityTooLarge past `max_bytes`.
Task<Result<std::string>> read_all(HttpAnswer& answer, std::size_t max_bytes = std::size_t{64} << 20);

// Connects to `address` ("host:port") and returns the descriptor of a stream socket that carries the server's bytes (through a proxy, for
// instance). Called on the client's executor, limited by connect_timeout; a socket that arrives too late is closed.
using DialFunction = std::function<Task<Result<int>>(std::string address)>;

// The configuration of a client of another server.
struct ClientConfig {
  // "https://host:port"; without TLS: "http://host:port" or "unix:///path".
  std::string server;
  DialFunction dial;                  // empty: TCP to the host of `server`, or its Unix socket
  std::string certificate_authority;  // PEM; empty: the system's trust store
  std::string client_certificate;     // PEM
  std::string client_key;             // PEM
  std::string token;                  // sent as a bearer token
  // Files instead of the four texts. A changed file is read again when a call is made, at most once in `reload_interval`. New connections
  // use the new content; existing ones accept no more calls and finish those they have. A file that cannot be used is logged, and the
  // previous content stays in use.
  std::string certificate_authority_file;
  std::string client_certificate_file;
  std::string client_key_file;
  std::string token_file;
  std::chrono::milliseconds reload_interval{10'000};
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  bool http2 = true;  // false: HTTP/1.1 only
  // HTTP/2 without TLS and without an upgrade (RFC 9113, 3.3), instead of HTTP/1.1.
  bool http2_prior_knowledge = false;
  // HTTP/2 flow control: bytes that the server may send of one response, and of all responses of a connection, before they are read.
  std::uint32_t stream_window = 256 * 1024, connection_window = 4 * 1024 * 1024;
  // HTTP/2: a connection with calls that has received nothing for `keep_alive` sends a PING, and is closed if it receives nothing within
  // `keep_alive_timeout` after that. 0: no PING. The defaults are client-go's.
  std::chrono::milliseconds keep_alive{30'000}, keep_alive_timeout{15'000};
  std::string user_agent = "backplane";
  // Limit of pooled connections.
  std::size_t max_connections = 8;
  // Limit of additional connections for lasting calls; with HTTP/1.1 each lasting call uses a separate connection. A lasting call past the
  // limit gets kTooManyRequests.
  std::size_t max_lasting_connections = 256;
  std::chrono::seconds connect_timeout{30};
  // The time limit of calls that are not lasting and have no deadline; 0: none.
  std::chrono::milliseconds call_timeout{120'000};
  // Idle connections are closed after this time.
  std::chrono::seconds idle_timeout{90};
};
// Reads the current context of a kubeconfig. Certificates and tokens in files stay files; relative paths are relative to the working
// directory.
// Errors: kBadRequest; the message names what is missing.
Result<ClientConfig> client_config_from_kubeconfig(std::string_view kubeconfig);

enum class PatchType : unsigned char { kJson, kMerge, kStrategicMerge };

// Kubernetes' verbs over an HttpClient. `ns` is empty for cluster-scoped resources and for lists over all namespaces. Errors: the
// server's Status.
//
//   ApiClient api(host.client());
//   auto map = co_await api.get({"", "v1", "configmaps"}, "default", "settings");
//   if (!map.ok() && map.status().reason() == Reason::kNotFound) …
class ApiClient {
 public:
  explicit ApiClient(std::shared_ptr<HttpClient> http) : http_(std::move(http)) {}

  Task<Result<Object>> get(GroupVersionResource resource, std::string ns, std::string name, GetOptions options = {});
  // One page, as a list object; options.limit and options.continue_token control paging.
  Task<Result<Object>> list(GroupVersionResource resource, std::string ns, ListOptions options = {});
  Task<Result<Object>> create(GroupVersionResource resource, std::string ns, Object object, WriteOptions options = {});
  // `subresource`: "status", "scale" … or empty.
  Task<Result<Object>> update(GroupVersionResource resource, std::string ns, Object object, std::string subresource = {},
                              WriteOptions options = {});
  Task<Result<Object>> patch(GroupVersionResource resource, std::string ns, std::string name, PatchType type, Value patch,
                             std::string subresource = {}, WriteOptions options = {});
  // Returns the deleted object or a Status, as the server sends it.
  Task<Result<Object>> remove(GroupVersionResource resource, std::string ns, std::string name, DeleteOptions options = {});
  Task<Result<Object>> remove_collection(GroupVersionResource resource, std::string ns, DeleteOptions options = {}, ListOptions list = {});
  // Watches; the stream ends with an empty vector.
  Task<Result<std::shared_ptr<WatchStream>>> watch(GroupVersionResource resource, std::string ns, ListOptions options = {});
  // Any request; returns the JSON object of the response.
  Task<Result<Object>> request(HttpCall call);

  const std::shared_ptr<HttpClient>& http() const noexcept { return http_; }

 private:
  std::shared_ptr<HttpClient> http_;
};

// A resource of another API server as the source of an informer.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<ApiClient> client, GroupVersionResource resource, std::string ns = {});

}  // namespace BACKPLANE_API

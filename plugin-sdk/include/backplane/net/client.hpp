// Clients: HTTP calls with streamed responses (HttpClient), and Kubernetes' verbs on JSON trees (ApiClient).
//
// Host::client() calls this server in process, through the whole handler chain. Host::make_client() calls any API server over TLS with
// HTTP/2 or HTTP/1.1 and pooled connections.
//
// Thread-safety: HttpClient and ApiClient may be called on any executor. Only the coroutine that made the call uses the HttpAnswer, except
//                for cancel().
//                cancel().
// Lifetime:      an HttpAnswer shares ownership of what it needs of the client; its destructor abandons the call.
// Errors:        HttpClient: an error if there is no response (kServiceUnavailable, kTimeout, kBadRequest). A response with an error code
//                is not an error. ApiClient: also the metav1.Status that the server sent.
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
// Lifetime:      until the last next() has ended, which may be after the HttpAnswer is destroyed.
class BodySource {
 public:
  virtual ~BodySource();
  // Waits for the next part; returns an empty string at the end. Called only when the connection accepts more bytes. An error aborts the
  // call.
  virtual Task<Result<std::string>> next() = 0;
};

// A call that a CallBreaker can abort. Implementations of HttpClient derive from it.
//
// Thread-safety: break_off() may be called on any thread.
class BreakableCall {
 public:
  // Fails the call with `why`. Without effect after the end of the call.
  virtual void break_off(Status why) = 0;

 protected:
  ~BreakableCall() = default;
};

// Aborts a call from another thread or task, even before its response head has arrived.
//
// Thread-safety: any thread.
// Lifetime:      shared by the caller and the code that aborts the call. One CallBreaker for each call.
//
//   const auto breaker = std::make_shared<CallBreaker>();
//   call.breaker = breaker;
//   auto answer = co_await client.call(std::move(call));  // one task
//   breaker->break_off(timeout("superseded", 0));         // another task
class CallBreaker {
 public:
  // Fails the call with `why`; if the call has not begun, it fails as soon as it begins. Only the first call of break_off() has an effect.
  void break_off(Status why);
  // True after break_off().
  bool broken() const;
  // For implementations of HttpClient: sets the function that break_off() calls, once, with the reason. If break_off() has already been
  // called, attach() calls it. An empty function removes the former one.
  void attach(std::function<void(Status why)> ends);
  // Like attach() above: break_off() calls call->break_off() if `call` still exists.
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
  // Additional headers. `Host` replaces the name of the server, and `User-Agent` that of the client.
  Headers headers;
  std::string body;
  // Produces the body instead of `body`. A call with a BodySource is never retried.
  std::shared_ptr<BodySource> body_source = {};
  // The size of the body that `body_source` produces, if known; sent as Content-Length. If the source produces another number of bytes, the
  // call is aborted.
  std::optional<std::uint64_t> body_size = {};
  // True: requests an upgrade with the Connection and Upgrade headers in `headers`. The call uses an HTTP/1.1 connection that no other call
  // shares.
  // If code() is 101, read() returns raw bytes of the server, and `body_source` supplies raw bytes to send; the source is not called
  // before. When either side ends, the connection is closed.
  // If code() is not 101, the response is an ordinary one, and `body_source` is never called.
  // Errors: kBadRequest from clients without connections (Host::client()).
  bool upgrade = false;
  // Set it in order to be able to abort the call.
  std::shared_ptr<CallBreaker> breaker = {};
  // The limit for the whole call, including the response body. max(): ClientConfig::call_timeout applies instead.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // The limit for waiting for a connection. After it, the call fails with kTimeout, and never_sent() of that error is true. max(): only
  // `deadline` applies.
  std::chrono::steady_clock::time_point send_by = std::chrono::steady_clock::time_point::max();
  // True for a watch or a followed log: the call has no default time limit, and does not use a connection that other calls could use.
  bool lasting = false;
};

// True if `status` is the error of a call that no server has begun to process. Such a call may be repeated even if the request is not
// idempotent.
bool never_sent(const Status& status) noexcept;
// For implementations of HttpClient: returns `status` with a mark that makes never_sent() true.
Status as_never_sent(Status status);

// Flaws in a server's certificates for which current clients reject them.
struct CertificateFlaws {
  bool no_alternative_name = false;  // the server's certificate has no SAN extension
  bool signed_with_sha1 = false;     // a presented certificate that is not self-signed has a SHA-1 signature
  bool any() const noexcept { return no_alternative_name || signed_with_sha1; }
};

// The response to one call.
class HttpAnswer {
 public:
  virtual ~HttpAnswer();
  // Status code and header fields of the response head. Header names are case-insensitive.
  virtual int code() const noexcept = 0;
  virtual const Headers& headers() const noexcept = 0;
  // Waits for bytes of the body; returns an empty string at the end. At most the flow-control window of unread bytes is buffered.
  virtual Task<Result<std::string>> read() = 0;
  // Makes a pending read() and all later calls of read() fail. Any thread.
  virtual void cancel() = 0;
  // The trailer fields; complete once read() has returned an empty string. Default: none.
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
  // False: the body exceeded the limit, so the call was abandoned. `body` is then the beginning of the body, and `trailers` is empty.
  bool complete = true;
};

// The limit of the body in a WholeAnswer.
struct AnswerLimit {
  std::size_t body_bytes = std::size_t{64} << 20;
  // Returns the length of the whole body, computed from its beginning; 0 if the beginning does not determine the length yet. A body exceeds
  // the limit if this length is greater than `body_bytes`, or if the body is longer than this length. Called on any thread. Null: only
  // `body_bytes` applies.
  std::size_t (*length_of)(std::string_view beginning) noexcept = nullptr;

  // True if the body that begins with `beginning` exceeds the limit.
  bool passed_by(std::string_view beginning) const noexcept;
};

// A client of one server. See Host::client() and Host::make_client().
class HttpClient {
 public:
  virtual ~HttpClient();
  // Sends the request. Returns when the response head has arrived.
  virtual Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) = 0;
  // Sends the request. Returns when the whole response has arrived, or when its body exceeds `limit`. For small responses this is cheaper
  // than call() and read(). The default uses call() and read().
  // Errors: those of call() and read(); kBadRequest for an upgrade.
  virtual Task<Result<WholeAnswer>> call_whole(HttpCall call, AnswerLimit limit = {});
};

// Reads the rest of the body. Errors: kRequestEntityTooLarge if the rest is longer than `max_bytes`.
Task<Result<std::string>> read_all(HttpAnswer& answer, std::size_t max_bytes = std::size_t{64} << 20);

// Connects to `address` ("host:port") and returns the descriptor of a stream socket over which the server is reached (through a proxy, for
// instance). Called on the client's executor. If it takes longer than connect_timeout, the call fails, and the socket is closed when it
// arrives.
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
  // Files that replace the four texts above. When a call is made, changed files are read again, at most once in `reload_interval`. New
  // connections use the new content. Existing connections accept no more calls and finish the calls that they have. If a file cannot be
  // used, an error is logged, and the previous content stays in use.
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
  // HTTP/2 flow control: the number of bytes that the server may send before they are read, for one response (stream_window) and for all
  // responses of a connection (connection_window).
  std::uint32_t stream_window = 256 * 1024, connection_window = 4 * 1024 * 1024;
  // HTTP/2: if a connection with calls has received nothing for `keep_alive`, the client sends a PING. If it then receives nothing for
  // `keep_alive_timeout`, the connection is closed. keep_alive 0: no PING. The defaults are client-go's.
  std::chrono::milliseconds keep_alive{30'000}, keep_alive_timeout{15'000};
  std::string user_agent = "backplane";
  // Maximum number of pooled connections.
  std::size_t max_connections = 8;
  // Maximum number of additional connections for calls with `lasting`. With HTTP/1.1 each of these calls uses a separate connection. If the
  // maximum is reached, a further call gets kTooManyRequests.
  std::size_t max_lasting_connections = 256;
  std::chrono::seconds connect_timeout{30};
  // The time limit of calls without `lasting` and without a deadline; 0: no limit.
  std::chrono::milliseconds call_timeout{120'000};
  // Idle connections are closed after this time.
  std::chrono::seconds idle_timeout{90};
};
// Reads the current context of a kubeconfig. If it names files for certificates and tokens, the result names the same files; relative paths
// are relative to the working directory.
// Errors: kBadRequest; the message names what is missing.
Result<ClientConfig> client_config_from_kubeconfig(std::string_view kubeconfig);

enum class PatchType : unsigned char { kJson, kMerge, kStrategicMerge };

// Kubernetes' verbs, with an HttpClient. `ns` is empty for cluster-scoped resources, and for lists over all namespaces.
// Errors: those of the HttpClient, and the Status that the server sent.
//
//   ApiClient api(host.client());
//   auto map = co_await api.get({"", "v1", "configmaps"}, "default", "settings");
//   if (!map.ok() && map.status().reason() == Reason::kNotFound) …
class ApiClient {
 public:
  explicit ApiClient(std::shared_ptr<HttpClient> http) : http_(std::move(http)) {}

  Task<Result<Object>> get(GroupVersionResource resource, std::string ns, std::string name, GetOptions options = {});
  // Returns one page, as a list object. options.limit and options.continue_token determine the page.
  Task<Result<Object>> list(GroupVersionResource resource, std::string ns, ListOptions options = {});
  Task<Result<Object>> create(GroupVersionResource resource, std::string ns, Object object, WriteOptions options = {});
  // `subresource`: "status", "scale" …; empty for the object itself.
  Task<Result<Object>> update(GroupVersionResource resource, std::string ns, Object object, std::string subresource = {},
                              WriteOptions options = {});
  Task<Result<Object>> patch(GroupVersionResource resource, std::string ns, std::string name, PatchType type, Value patch,
                             std::string subresource = {}, WriteOptions options = {});
  // Returns the deleted object or a Status, as the server sends it.
  Task<Result<Object>> remove(GroupVersionResource resource, std::string ns, std::string name, DeleteOptions options = {});
  Task<Result<Object>> remove_collection(GroupVersionResource resource, std::string ns, DeleteOptions options = {}, ListOptions list = {});
  // Returns a stream of events. next() returns an empty vector at the end of the stream.
  Task<Result<std::shared_ptr<WatchStream>>> watch(GroupVersionResource resource, std::string ns, ListOptions options = {});
  // Makes any request, and returns the JSON object of the response.
  Task<Result<Object>> request(HttpCall call);

  const std::shared_ptr<HttpClient>& http() const noexcept { return http_; }

 private:
  std::shared_ptr<HttpClient> http_;
};

// Returns a source for an informer: lists and watches a resource of another API server.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<ApiClient> client, GroupVersionResource resource, std::string ns = {});

}  // namespace BACKPLANE_API

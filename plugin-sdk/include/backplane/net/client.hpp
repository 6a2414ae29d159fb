// An API client: HTTP calls whose answers stream, and Kubernetes' verbs on JSON trees over them.
//
// Host::client() calls this server from inside, through the whole handler chain and without a socket; Host::make_client() calls any API
// server over TLS, by HTTP/2 or HTTP/1.1, over pooled connections.
// Thread-safety: HttpClient and ApiClient from any executor; an HttpAnswer belongs to the coroutine that called, but for cancel().
// Lifetime:      an answer keeps what it needs of its client; destroying it gives the call up.
// Errors:        HttpClient: what kept the answer from coming (kServiceUnavailable, kTimeout, kBadRequest); an answer with an error code is
//                no error.  ApiClient: the metav1.Status that the server sent.
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
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

// A request body that is made while it is sent.
//
// Thread-safety: asked on the executor that made the call, one piece at a time.
// Lifetime:      kept until the last next() has ended, which may be after the answer has gone.
class BodySource {
 public:
  virtual ~BodySource();
  // The next piece, waited for; empty at the end.  Not asked before there is room for it.  An error breaks the call off.
  virtual Task<Result<std::string>> next() = 0;
};

// Ends a call from outside, before the head of its answer is there too.
//
// Thread-safety: any thread.
// Lifetime:      shared by who calls and who may end it; one call each.
class CallBreaker {
 public:
  // The call fails with `why`, now or as soon as it begins.  Later calls do nothing.
  void break_off(Status why);
  bool broken() const;
  // For implementers of HttpClient: `ends` is called once, perhaps at once, with the reason.  An empty one lets go of the call.
  void attach(std::function<void(Status why)> ends);

 private:
  mutable std::mutex mutex_;
  std::optional<Status> why_;
  std::function<void(Status why)> ends_;
};

struct HttpCall {
  std::string method = "GET";
  std::string target;  // path[?query]
  // `Host` stands in place of the server's own, `User-Agent` in place of the client's.
  Headers headers;
  std::string body;
  // In place of `body`.  A call with one is not tried a second time.
  std::shared_ptr<BodySource> body_source = {};
  // How much `body_source` will give, when that is known: sent as Content-Length.  One that gives more or less breaks the call off.
  std::optional<std::uint64_t> body_size = {};
  // Asks to leave HTTP, as `headers` say (Connection, Upgrade).  The call has a connection of its own, in HTTP/1.1.  When code() is 101,
  // read() gives the bytes of the server as they are, and `body_source`, not asked before, gives those that are sent to it; when either
  // ends, the connection is closed.  With another code it is an answer like any, and the source is never asked.
  // Errors: kBadRequest from clients that have no connections (Host::client()).
  bool upgrade = false;
  std::shared_ptr<CallBreaker> breaker = {};
  // Of the whole call, the end of the answer included; left as it is: ClientConfig::call_timeout of a client that has one.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // A watch, a followed log: it ends when one side has had enough, has no deadline but its own, and takes no connection from other calls.
  bool lasting = false;
};

class HttpAnswer {
 public:
  virtual ~HttpAnswer();
  virtual int code() const noexcept = 0;
  virtual const Headers& headers() const noexcept = 0;
  // Some bytes of the body, waited for; empty at its end.  What is not read is not fetched, beyond a window.
  virtual Task<Result<std::string>> read() = 0;
  // Ends a pending and every later read() with an error.  Any thread.
  virtual void cancel() = 0;
};

class HttpClient {
 public:
  virtual ~HttpClient();
  // Resumes when the head of the answer is there.
  virtual Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) = 0;
};

// The rest of the body.  Errors: kRequestEntityTooLarge past `max_bytes`.
Task<Result<std::string>> read_all(HttpAnswer& answer, std::size_t max_bytes = std::size_t{64} << 20);

// Connects to `address` ("host:port"), over whatever is between: a stream socket whose first byte is the server's.  Runs on the client's
// executor, bounded by connect_timeout; a socket that comes too late is closed.
using DialFunction = std::function<Task<Result<int>>(std::string address)>;

// How another API server is reached.
struct ClientConfig {
  std::string server;                 // "https://host:port", or "http://host:port": no TLS, HTTP/1.1
  DialFunction dial;                  // empty: a TCP connection to the host of `server`
  std::string certificate_authority;  // PEM; empty: the system's
  std::string client_certificate;     // PEM
  std::string client_key;             // PEM
  std::string token;                  // sent as a bearer token
  // Files in place of the four texts.  They are read again when they have changed, which is looked at when a call is made, at most once in
  // `reload_interval`.  Connections made from then on use what is new; those there are take no more calls and end with those they have.
  // What cannot be used is logged, and what was read before stays.
  std::string certificate_authority_file;
  std::string client_certificate_file;
  std::string client_key_file;
  std::string token_file;
  std::chrono::milliseconds reload_interval{10'000};
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  bool http2 = true;  // false: HTTP/1.1 alone
  std::string user_agent = "backplane";
  std::size_t max_connections = 8;
  // Connections besides those that lasting calls alone are using: each has one of its own where the server speaks HTTP/1.1.  A lasting call
  // too many is refused (kTooManyRequests).
  std::size_t max_lasting_connections = 256;
  std::chrono::seconds connect_timeout{30};
  // Of calls that are not lasting and have no deadline of their own; 0: none.
  std::chrono::milliseconds call_timeout{120'000};
  std::chrono::seconds idle_timeout{90};
};
// Of the current context; files stay files, whose paths must be absolute or lead there from the working directory.
// Errors: kBadRequest naming what is missing.
Result<ClientConfig> client_config_from_kubeconfig(std::string_view kubeconfig);

enum class PatchType : unsigned char { kJson, kMerge, kStrategicMerge };

// Kubernetes' verbs.  `ns` is empty for resources and lists of the whole cluster.
class ApiClient {
 public:
  explicit ApiClient(std::shared_ptr<HttpClient> http) : http_(std::move(http)) {}

  Task<Result<Object>> get(GroupVersionResource resource, std::string ns, std::string name, GetOptions options = {});
  // One page: a list object.  options.limit and continue_token as in the API.
  Task<Result<Object>> list(GroupVersionResource resource, std::string ns, ListOptions options = {});
  Task<Result<Object>> create(GroupVersionResource resource, std::string ns, Object object, WriteOptions options = {});
  // `subresource`: "status", "scale" … or empty.
  Task<Result<Object>> update(GroupVersionResource resource, std::string ns, Object object, std::string subresource = {},
                              WriteOptions options = {});
  Task<Result<Object>> patch(GroupVersionResource resource, std::string ns, std::string name, PatchType type, Value patch,
                             std::string subresource = {}, WriteOptions options = {});
  // The object as it was or is, or a Status.
  Task<Result<Object>> remove(GroupVersionResource resource, std::string ns, std::string name, DeleteOptions options = {});
  Task<Result<Object>> remove_collection(GroupVersionResource resource, std::string ns, DeleteOptions options = {}, ListOptions list = {});
  // Events as they come; the stream ends with an empty vector.
  Task<Result<std::shared_ptr<WatchStream>>> watch(GroupVersionResource resource, std::string ns, ListOptions options = {});
  // Any path; the JSON object of the answer.
  Task<Result<Object>> request(HttpCall call);

  const std::shared_ptr<HttpClient>& http() const noexcept { return http_; }

 private:
  std::shared_ptr<HttpClient> http_;
};

// A resource of any API server, for informers.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<ApiClient> client, GroupVersionResource resource, std::string ns = {});

}  // namespace BACKPLANE_API

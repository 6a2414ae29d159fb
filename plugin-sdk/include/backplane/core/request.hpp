// The context of one request: the user, the parsed URL (RequestInfo), deadlines, warnings, and the audit record.
//
// Thread-safety: a RequestContext belongs to one request. One thread at a time uses it; filters and endpoints use it on the connection's
//                executor.
// Lifetime:      until the response has been sent. References to the context must not outlive the handler.
// Errors:        none.
#pragma once

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/query.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Exchange;
class RequestTrace;
struct AuditRecord;

// authentication.k8s.io UserInfo: the client's identity, as an authenticator has determined it.
struct UserInfo {
  std::string name;
  // An identifier that is unique over time; empty if the authenticator has none.
  std::string uid;
  // Group names, such as system:authenticated.
  std::vector<std::string> groups;
  // Additional attributes: keys in lower case, each with its values.
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;
  // True if `groups` contains `group` exactly.
  bool in_group(std::string_view group) const noexcept;
};

// An immutable UserInfo with shared ownership, so that requests of one client copy only a pointer. Read it with * or ->. To change the
// user, assign another UserRef.
class UserRef {
 public:
  // A user whose members are all empty.
  UserRef() noexcept;
  UserRef(UserInfo user) : user_(std::make_shared<const UserInfo>(std::move(user))) {}
  const UserInfo& operator*() const noexcept { return *user_; }
  const UserInfo* operator->() const noexcept { return user_.get(); }
  operator const UserInfo&() const noexcept { return *user_; }

 private:
  std::shared_ptr<const UserInfo> user_;  // never null, except after a move
};

// The parsed URL and verb, as in apiserver/pkg/endpoints/request.RequestInfo.
//
// For GET /apis/apps/v1/namespaces/a/deployments/web/status?pretty=true:
//
//   is_resource_request  true
//   path                 "/apis/apps/v1/namespaces/a/deployments/web/status"
//   verb                 "get"
//   api_prefix, …        "apis", "apps", "v1"
//   ns, resource         "a", "deployments"
//   name, subresource    "web", "status"
//   parts                {"deployments", "web", "status"}
struct RequestInfo {
  bool is_resource_request = false;
  std::string path;  // decoded, without the query
  std::string verb;  // get list watch create update patch delete deletecollection; the lower-case HTTP method for non-resource requests
  std::string api_prefix;  // "api" or "apis"
  std::string api_group;
  std::string api_version;
  std::string ns;
  std::string resource;
  std::string subresource;
  std::string name;
  std::vector<std::string> parts;  // path segments from the resource on
  // The well-formed pairs of the query string, as Go's Request.URL.Query() returns them.
  Query query;
  // The error of the first malformed pair; ok if there is none.
  Status query_error;
  // The query parameters fieldSelector and labelSelector of list, watch and deletecollection; empty on /watch/ paths, which ignore them.
  std::string field_selector;
  std::string label_selector;
  // The resource with and without its version; empty members for non-resource requests.
  GroupVersionResource gvr() const { return {api_group, api_version, resource}; }
  GroupResource group_resource() const { return {api_group, resource}; }
};

// The time that a request has spent in each part of the server, as in upstream's latency trackers; zero for parts that it has not reached.
// The handler chain adds the times to the audit annotations of slow requests (apiserver.latency.k8s.io/…).
struct RequestLatencies {
  std::chrono::nanoseconds authentication{}, authorization{}, impersonation{};
  std::chrono::nanoseconds queue_wait{};  // in the request gate
  std::chrono::nanoseconds mutating_webhooks{}, validating_webhooks{};
  std::chrono::nanoseconds storage{};         // reads and writes of the store
  std::chrono::nanoseconds transformation{};  // conversion of the response object, and its tables
  std::chrono::nanoseconds serialization{}, response_write{};
};

// The context of one request. Not copyable: every handler, admission plugin and storage receives a reference to it.
class RequestContext {
 public:
  RequestContext();
  ~RequestContext();
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  // The authentication filter sets it; before that, all members of the user are empty. The impersonation filter replaces it.
  UserRef user;
  RequestInfo info;
  // The value of the Audit-ID header of the request and the response.
  std::string audit_id;
  // The User-Agent header; empty if the client sent none.
  std::string user_agent;
  // received: the time at which the request was read. deadline: the time at which its work must end; max() if there is no deadline.
  // Storages check `deadline` before they retry.
  std::chrono::steady_clock::time_point received = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // The dryRun query parameter: run all checks and write nothing.
  bool dry_run = false;
  // True for watches, proxies, exec and the like. Such requests are exempt from the request timeout and from the in-flight limits.
  bool long_running = false;
  // The parts of the server that process the request set it.
  RequestLatencies latencies;
  // True if the server offers CBOR to clients (the feature gate CBORServingAndStorage).
  bool offers_cbor = false;
  // True until all API paths are installed. While it is true, an unknown path gets 503 instead of 404.
  bool mux_incomplete = false;
  // The exchange to which the current handler writes. Only filters that wrap the exchange set it; they restore it afterwards. Null for
  // calls that did not come over HTTP.
  Exchange* exchange = nullptr;
  // The admission plugins that were published together with the route of the request. The router sets it; only the host's admission reads
  // it. Null: the newest admission plugins apply.
  std::shared_ptr<const void> admission;
  // Null if the request is not audited.
  std::shared_ptr<AuditRecord> audit;  // backplane/points/audit.hpp
  // The steps and spans of the request; use TraceSpan and trace_step() to add to it. The handler chain sets it. Null for calls that did not
  // come over HTTP.
  RequestTrace* trace = nullptr;  // backplane/points/tracing.hpp

  // The memory resource for the trees of this request. All of it is freed when the request ends.
  const json::storage_ptr& arena() noexcept { return arena_; }
  // Adds the header `Warning: 299 - "text"`. A repeated text is sent once. Upstream's limits apply: 256 characters for each text, 4096 for
  // all.
  void warn(std::string_view text);
  // The texts to send, after the limits of warn() have been applied.
  std::vector<std::string> warnings() const;
  // A write that is retried removes the warnings of the failed attempt: call warning_count() before the attempt, and pass its result to
  // take_back_warnings() before the next attempt.
  std::size_t warning_count() const noexcept { return warnings_.size(); }
  void take_back_warnings(std::size_t count) noexcept { warnings_.resize(std::min(count, warnings_.size())); }
  // Adds an annotation to the audit events of this request. Returns false if the key already has another value; that value is retained.
  bool annotate(std::string_view key, std::string value);
  using AuditAnnotations = std::map<std::string, std::string, std::less<>>;
  const AuditAnnotations& audit_annotations() const noexcept { return audit_annotations_; }
  // For the last audit event of the request: returns the annotations and removes them from the context.
  AuditAnnotations take_audit_annotations() noexcept { return std::exchange(audit_annotations_, {}); }

 private:
  json::storage_ptr arena_;
  std::vector<std::string> warnings_;
  AuditAnnotations audit_annotations_;
};

// Called if RequestContext::annotate() drops the value `dropped` because the annotation `key` of an audited request already has the value
// `kept`.
using AnnotationConflictLog = void (*)(const RequestContext& context, std::string_view key, std::string_view kept,
                                       std::string_view dropped);
// For the host: sets the function for the whole process. Null: conflicts are not logged.
void set_annotation_conflict_log(AnnotationConflictLog log) noexcept;

}  // namespace BACKPLANE_API

// Audit: the user, the request and the result of each request, as events that sinks receive.
//
// A registration is a policy and a sink.  The policy decides the level of each request after authentication and before impersonation.  The
// sink receives one event for each stage of the request, except for the stages that the policy omits.  A request that is refused before its
// policy is called (401, an invalid ?timeout=) causes only one event, with the stage ResponseStarted.
//
// Thread-safety: decide(), process() and store() are called from any thread, any number of requests at once.
// Lifetime:      shared with the host and with the requests in progress.  flush() is called once, after the last event: when the server
//                stops, or when the last request that uses a withdrawn registration has ended.
// Errors:        a sink that loses events counts them.  A request whose policy throws gets 500.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane BACKPLANE_API {

// audit.k8s.io/v1 Level. Events of a level contain all that events of the lower levels contain.
enum class AuditLevel : std::uint8_t { kNone, kMetadata, kRequest, kRequestResponse };
// audit.k8s.io/v1 Stage.
enum class AuditStage : std::uint8_t { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
// The names in the audit API: "RequestResponse", "ResponseComplete".
std::string_view audit_level_name(AuditLevel level) noexcept;
std::string_view audit_stage_name(AuditStage stage) noexcept;

// The decision of a policy about one request.
struct AuditDecision {
  AuditLevel level = AuditLevel::kNone;
  std::uint8_t omitted_stages = 0;  // bit N is set: the stage with the value N is omitted
  bool omit_managed_fields = false;
  // True if no event is sent for `stage`.
  bool omits(AuditStage stage) const noexcept { return (omitted_stages >> static_cast<unsigned>(stage) & 1U) != 0; }
};

// Chooses the level of each request.
class AuditPolicy {
 public:
  virtual ~AuditPolicy();
  // Called once for each request; must not block. The user of `request` is the authenticated user, before impersonation. If the request is
  // not authenticated, the members of its user are empty.
  virtual AuditDecision decide(const RequestView& request) const = 0;
};

// The data that the host collects about a request that is audited (RequestContext::audit). Used on the request's executor only.
struct AuditRecord {
  AuditLevel level = AuditLevel::kNone;  // the highest level that any policy has decided for the request
  UserRef user;                          // as authenticated, before impersonation
  // The verb of constrained impersonation that allowed the impersonation; empty if the verb `impersonate` allowed it. The impersonation
  // filter sets it.
  std::string impersonation_constraint = {};
  // JSON in the API version of the request. The endpoints set request_object at level kRequest and above, and response_object at level
  // kRequestResponse. For a patch, request_object is the patch.
  SharedBytes request_object = {};
  SharedBytes response_object = {};
  Status response_status = {};                        // set if the response is a Status with an error
  std::optional<StatusDetails> success_details = {};  // set if the response is a Status of success
  std::string panic = {};                             // text of the exception that the handler threw; the last stage is then kPanic
  // From metadata of the request object: the members of objectRef that are not part of the URL.
  std::string name = {};
  std::string uid = {};
  std::string resource_version = {};
};

// The common content of the events of one request.
struct AuditRequest {
  std::string audit_id;
  std::string request_uri;
  std::string verb;
  UserRef user;  // as authenticated, before impersonation
  std::vector<std::string> source_ips;
  std::string user_agent;
  // Set only if the request is for a resource; read from the URL.
  bool resource_request = false;
  std::string resource, ns, name, api_group, api_version, subresource;
  std::chrono::system_clock::time_point received;
};

// One stage of one request: audit.k8s.io/v1 Event.
struct AuditEvent {
  AuditLevel level = AuditLevel::kMetadata;
  AuditStage stage = AuditStage::kResponseComplete;
  std::shared_ptr<const AuditRequest> request;  // never null
  std::optional<UserRef> impersonated_user;
  std::string impersonation_constraint;  // authenticationMetadata
  // Members of objectRef that `request` does not contain; set only if the request is for a resource.
  std::string name, uid, resource_version;
  int response_code = 0;  // 0: no response has begun
  Status response_status;
  std::optional<StatusDetails> success_details;
  SharedBytes request_object;   // empty below level kRequest
  SharedBytes response_object;  // empty below level kRequestResponse
  std::chrono::system_clock::time_point stage_reached;
  std::map<std::string, std::string, std::less<>> annotations;
};

// Receives events: a file, a webhook.
class AuditSink {
 public:
  virtual ~AuditSink();
  // The name in metrics and log lines.
  virtual std::string_view name() const noexcept = 0;
  // Accepts the event. Must not block: a sink that writes queues the event, and bounds its queue. Returns false if the sink has not
  // accepted the event and the request must wait; the host then awaits store() with the same event.
  virtual bool process(std::shared_ptr<const AuditEvent> event) noexcept = 0;
  // Resumes when the event has been stored (true) or is lost (false). If an event of the stage kRequestReceived is lost, its request gets
  // 500 `failed to store audit event`. For other stages the result has no effect. The coroutine may end on any executor. The default
  // returns true.
  virtual Task<bool> store(std::shared_ptr<const AuditEvent> event);
  // True: the host sends a response that is not streamed only after the request's last event has been processed or stored, as upstream's
  // blocking modes do.  False: the host sends the response before the last event.
  virtual bool precedes_responses() const noexcept { return false; }
  // Resumes when every accepted event is written or lost. The default resumes at once.
  virtual Task<void> flush();
};

// The extension point (Host::register_audit).
struct AuditRegistration {
  std::shared_ptr<const AuditPolicy> policy;
  std::shared_ptr<AuditSink> sink;
};

}  // namespace BACKPLANE_API

// A small audit backend and policy. GET /auditor?id=ID&stage=STAGE waits for the event with this audit ID and stage, and returns it as
// audit.k8s.io/v1 JSON. Config maps are audited at the level RequestResponse (in the namespace "bare" without managedFields), and all other
// requests at the level Metadata; /auditor is not audited. The last flush writes the events to the file $AUDITOR_FILE.
#include <backplane/core/query.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/audit.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/points/storage_transformer.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include <backplane/types/json_reading.hpp>

namespace {

using namespace backplane;

void put(Object& object, std::string_view key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

Object user_json(const UserInfo& user) {
  Object out;
  put(out, "username", user.name);
  put(out, "uid", user.uid);
  for (const std::string& group : user.groups) ensure_array(out, "groups").emplace_back(group);
  return out;
}

Object status_json(const AuditEvent& event) {
  Object out;
  out["code"] = event.response_code;
  if (!event.response_status.ok()) {
    out["status"] = "Failure";
    put(out, "reason", reason_name(event.response_status.reason()));
    put(out, "message", event.response_status.message());
  } else if (event.success_details) {
    out["status"] = "Success";
    out["details"] = Object{{"name", event.success_details->name}, {"kind", event.success_details->kind}};
  }
  return out;
}

std::string event_json(const AuditEvent& event) {
  const AuditRequest& request = *event.request;
  Object out{{"kind", "Event"},
             {"apiVersion", "audit.k8s.io/v1"},
             {"level", audit_level_name(event.level)},
             {"auditID", request.audit_id},
             {"stage", audit_stage_name(event.stage)},
             {"requestURI", request.request_uri},
             {"verb", request.verb},
             {"user", user_json(*request.user)}};
  for (const std::string& ip : request.source_ips) ensure_array(out, "sourceIPs").emplace_back(ip);
  put(out, "userAgent", request.user_agent);
  if (request.resource_request) {
    Object reference;
    put(reference, "resource", request.resource);
    put(reference, "namespace", request.ns);
    put(reference, "name", event.name);
    put(reference, "uid", event.uid);
    put(reference, "apiGroup", request.api_group);
    put(reference, "apiVersion", request.api_version);
    put(reference, "resourceVersion", event.resource_version);
    put(reference, "subresource", request.subresource);
    out["objectRef"] = std::move(reference);
  }
  if (event.response_code != 0) out["responseStatus"] = status_json(event);
  if (!event.request_object.empty()) out["requestObject"] = read_json(event.request_object.view()).value();
  if (!event.response_object.empty()) out["responseObject"] = read_json(event.response_object.view()).value();
  for (const auto& [key, value] : event.annotations) ensure_object(out, "annotations")[key] = value;
  return to_json(out);
}

class Policy final : public AuditPolicy {
 public:
  AuditDecision decide(const RequestView& request) const override {
    if (request.path.starts_with("/auditor")) return {};
    if (request.resource != "configmaps") return {AuditLevel::kMetadata};
    return {AuditLevel::kRequestResponse, 0, request.ns == "bare"};
  }
};

class Events final : public AuditSink {
 public:
  std::string_view name() const noexcept override { return "auditor"; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override {
    const std::string key = event->request->audit_id + "/" + std::string(audit_stage_name(event->stage));
    std::optional<Promise<bool>> waiter;
    {
      const std::lock_guard lock(mutex_);
      events_[key] = event_json(*event);
      if (const auto found = waiters_.find(key); found != waiters_.end()) waiter = found->second;
    }
    if (waiter) waiter->set(true);
    return true;
  }
  Task<void> flush() override {
    const char* const path = std::getenv("AUDITOR_FILE");
    if (path == nullptr) co_return;
    const std::lock_guard lock(mutex_);
    std::ofstream file(path);
    for (const auto& [key, event] : events_) file << event << '\n';
  }
  Task<std::string> wait(std::string key) {
    Promise<bool> arrived;
    {
      const std::lock_guard lock(mutex_);
      if (events_.contains(key)) co_return events_.at(key);
      waiters_[key] = arrived;
    }
    (void)co_await arrived.future();
    const std::lock_guard lock(mutex_);
    co_return events_.at(key);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> events_;  // audit ID and stage → event
  std::map<std::string, Promise<bool>> waiters_;
};

class Asked final : public HttpHandler {
 public:
  explicit Asked(std::shared_ptr<Events> events) : events_(std::move(events)) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const Query& query = context.info.query;
    auto waiting = events_->wait(std::string(query_get(query, "id")).append("/").append(query_get(query, "stage")));
    std::string event = co_await std::move(waiting);
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(event));
    co_await exchange.respond(200, "application/json", std::move(body));
  }

 private:
  const std::shared_ptr<Events> events_;
};

class Auditor final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto events = std::make_shared<Events>();
    Status status = host.register_audit({std::make_shared<Policy>(), events});
    if (status.ok()) status = host.handle({"/auditor", false, true, std::make_shared<Asked>(events)});
    return status;
  }
};

}  // namespace

BACKPLANE_PLUGIN(Auditor)

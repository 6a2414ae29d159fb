#include "filters/audit_registrations.hpp"

#include <algorithm>

#include "base/fenced.hpp"
#include "filters/audit_event.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

AuditLevel highest(const std::vector<AuditDecision>& decisions) {
  AuditLevel level = AuditLevel::kNone;
  for (const AuditDecision& decision : decisions) level = std::max(level, decision.level);
  return level;
}

Task<bool> flushed(std::shared_ptr<AuditSink> sink) {
  co_await sink->flush();
  co_return true;
}

}  // namespace

void AuditRegistrations::set(List list) {
  const bool empty = list.empty();
  list_.set(std::make_shared<const List>(std::move(list)));
  empty_.store(empty, std::memory_order_relaxed);
}

Task<void> AuditRegistrations::flush() const {
  const auto list = get();
  for (const AuditRegistration& each : *list) {
    auto flushing =
        fenced<bool>([&each] { return flushed(each.sink); },
                     [&each](const Caught& error) {
                       filters_log().error("an audit sink threw sink={} error={}{}", each.sink->name(), error.what, error.stack);
                       return false;
                     });
    (void)co_await std::move(flushing);
  }
}

// The objects of a request without managedFields, made when the first sink wants them so.
struct AuditedRequest::Objects {
  SharedBytes request, response;
  bool made = false;
};

AuditedRequest::AuditedRequest(std::shared_ptr<const AuditRegistrations::List> registrations, std::vector<AuditDecision> decisions,
                               const RequestContext& context, const Exchange& exchange)
    : registrations_(std::move(registrations)), decisions_(std::move(decisions)), first_(audit_event(context, exchange)) {
  level = highest(decisions_);
  user = context.user;
}

std::shared_ptr<const AuditEvent> AuditedRequest::event(const AuditEvent& base, const AuditDecision& decision, Objects& objects) const {
  auto made = std::make_shared<AuditEvent>(base);
  made->level = decision.level;
  const bool request = decision.level >= AuditLevel::kRequest, response = decision.level >= AuditLevel::kRequestResponse;
  if (request && decision.omit_managed_fields && !std::exchange(objects.made, true)) {
    objects.request = without_managed_fields(request_object);
    objects.response = without_managed_fields(response_object);
  }
  if (request) made->request_object = decision.omit_managed_fields ? objects.request : request_object;
  if (response) made->response_object = decision.omit_managed_fields ? objects.response : response_object;
  return made;
}

void AuditedRequest::reach(const RequestContext& context, AuditStage stage, int code) {
  AuditEvent base = first_;
  base.stage = stage;
  base.response_code = code;
  base.stage_reached = stage == AuditStage::kRequestReceived ? base.request_received : std::chrono::system_clock::now();
  if (&*context.user != &*user) base.impersonated_user = context.user;
  if (base.resource_request) {
    if (base.name.empty()) base.name = name;
    base.uid = uid;
    base.resource_version = resource_version;
  }
  base.response_status = response_status;
  base.success_details = success_details;
  base.annotations = context.audit_annotations();
  Objects objects;
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    const AuditDecision& decision = decisions_[i];
    if (decision.level == AuditLevel::kNone || decision.omits(stage)) continue;
    (*registrations_)[i].sink->process(event(base, decision, objects));
  }
}

AuditedRequest* begin_audit(const AuditRegistrations& registrations, RequestContext& context, const Exchange& exchange) {
  auto list = registrations.get();
  const RequestView view(context);
  std::vector<AuditDecision> decisions;
  decisions.reserve(list->size());
  for (const AuditRegistration& each : *list) decisions.push_back(each.policy->decide(view));
  if (highest(decisions) == AuditLevel::kNone) return nullptr;
  auto audited = std::make_shared<AuditedRequest>(std::move(list), std::move(decisions), context, exchange);
  AuditedRequest* const begun = audited.get();
  context.audit = std::move(audited);
  return begun;
}

void audit_refusal(const AuditRegistrations* registrations, RequestContext& context, const Exchange& exchange, const Status& refusal) {
  if (registrations == nullptr || registrations->empty()) return;
  AuditedRequest* const audited = begin_audit(*registrations, context, exchange);
  if (audited == nullptr) return;
  audited->response_status = refusal;
  audited->reach(context, AuditStage::kResponseStarted, refusal.code());
}

}  // namespace backplane

#include "filters/audit_registrations.hpp"

#include <algorithm>

#include "base/fenced.hpp"
#include "filters/audit_event.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

Task<bool> flushed(std::shared_ptr<AuditSink> sink) {
  co_await sink->flush();
  co_return true;
}

bool log_throw(const AuditSink& sink, const Caught& error) {
  filters_log().error("an audit sink threw sink={} error={}{}", sink.name(), error.what, error.stack);
  return false;
}

Task<void> flush_fenced(std::shared_ptr<AuditSink> sink) {
  auto flushing = fenced<bool>([&sink] { return flushed(sink); }, [&sink](const Caught& error) { return log_throw(*sink, error); });
  (void)co_await std::move(flushing);
}

// The deleter of a pointer to a registered sink. It runs when no list and no request refers to the sink any more, and flushes the sink.
struct FlushWhenReleased {
  std::shared_ptr<AuditSink> sink;
  Executor* executor;
  std::shared_ptr<std::atomic<bool>> stopped;

  void operator()(AuditSink*) {
    if (executor != nullptr && !stopped->load()) spawn_detached(*executor, flush_fenced(std::move(sink)));
  }
};

}  // namespace

void AuditRegistrations::set(List list) {
  const auto before = list_.get();
  for (AuditRegistration& each : list) {
    const auto same = std::find_if(before->begin(), before->end(), [&](const auto& other) { return other.sink.get() == each.sink.get(); });
    each.sink = same != before->end() ? same->sink : flushed_when_released(each.sink);
  }
  const bool empty = list.empty();
  list_.set(std::make_shared<const List>(std::move(list)));
  empty_.store(empty, std::memory_order_relaxed);
}

std::shared_ptr<AuditSink> AuditRegistrations::flushed_when_released(const std::shared_ptr<AuditSink>& sink) const {
  return std::shared_ptr<AuditSink>(sink.get(), FlushWhenReleased{sink, executor_, stopped_});
}

Task<void> AuditRegistrations::flush() const {
  stopped_->store(true);
  const auto list = get();
  for (const AuditRegistration& each : *list) {
    auto flushing = flush_fenced(each.sink);
    co_await std::move(flushing);
  }
}

// The objects of a request without managedFields. They are created for the first sink that omits managedFields.
struct AuditedRequest::Objects {
  SharedBytes request, response;
  bool made = false;
};

AuditedRequest::AuditedRequest(std::shared_ptr<const AuditRegistrations::List> registrations, Decisions decisions,
                               std::shared_ptr<const AuditRequest> request, AuditMetrics& metrics)
    : registrations_(std::move(registrations)), decisions_(std::move(decisions)), request_(std::move(request)), metrics_(metrics) {
  user = request_->user;
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    level = std::max(level, decisions_[i].level);
    if (decisions_[i].level != AuditLevel::kNone) precedes_response_ |= (*registrations_)[i].sink->precedes_responses();
  }
}

std::shared_ptr<AuditEvent> AuditedRequest::base_event(RequestContext& context, AuditStage stage, int code) const {
  auto event = std::make_shared<AuditEvent>();
  event->stage = stage;
  event->request = request_;
  event->response_code = code;
  event->stage_reached = stage == AuditStage::kRequestReceived ? request_->received : std::chrono::system_clock::now();
  if (&*context.user != &*user) {
    event->impersonated_user = context.user;
    event->impersonation_constraint = impersonation_constraint;
  }
  if (request_->resource_request) {
    event->name = request_->name.empty() ? name : request_->name;
    event->uid = uid;
    event->resource_version = resource_version;
  }
  event->response_status = response_status;
  event->success_details = success_details;
  // No filter adds annotations after the last event, so the annotations are moved into that event.
  if (stage == AuditStage::kResponseComplete || stage == AuditStage::kPanic) {
    event->annotations = context.take_audit_annotations();
  } else {
    event->annotations = context.audit_annotations();
  }
  return event;
}

void AuditedRequest::set_level(AuditEvent& event, const AuditDecision& decision, Objects& objects) const {
  event.level = decision.level;
  const bool request = decision.level >= AuditLevel::kRequest, response = decision.level >= AuditLevel::kRequestResponse;
  if (request && decision.omit_managed_fields && !std::exchange(objects.made, true)) {
    objects.request = without_managed_fields(request_object);
    objects.response = without_managed_fields(response_object);
  }
  if (request) event.request_object = decision.omit_managed_fields ? objects.request : request_object;
  if (response) event.response_object = decision.omit_managed_fields ? objects.response : response_object;
}

bool AuditedRequest::reach(RequestContext& context, AuditStage stage, int code) {
  std::shared_ptr<AuditEvent> base;
  Objects objects;
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    const AuditDecision& decision = decisions_[i];
    if (decision.level == AuditLevel::kNone || decision.omits(stage)) continue;
    if (base == nullptr) {
      base = base_event(context, stage, code);
      metrics_.event();
    }
    const bool last = i + 1 == decisions_.size();
    auto event = last ? std::move(base) : std::make_shared<AuditEvent>(*base);
    set_level(*event, decision, objects);
    if (!(*registrations_)[i].sink->process(event)) waiting_.push_back({i, std::move(event)});
  }
  return waiting_.empty();
}

Task<bool> AuditedRequest::store() {
  bool stored = true;
  for (Waiting& each : std::exchange(waiting_, {})) {
    AuditSink& sink = *(*registrations_)[each.registration].sink;
    auto storing =
        fenced<bool>([&] { return sink.store(std::move(each.event)); }, [&](const Caught& error) { return log_throw(sink, error); });
    const bool one = co_await std::move(storing);
    stored = stored && one;
  }
  co_return stored;
}

AuditedRequest* begin_audit(const AuditRegistrations& registrations, RequestContext& context, const Exchange& exchange) {
  auto list = registrations.get();
  const RequestView view(context);
  AuditedRequest::Decisions decisions;
  AuditLevel level = AuditLevel::kNone;
  for (const AuditRegistration& each : *list) {
    decisions.push_back(each.policy->decide(view));
    level = std::max(level, decisions.back().level);
  }
  registrations.metrics().level(level);
  if (level == AuditLevel::kNone) return nullptr;
  auto audited =
      std::make_shared<AuditedRequest>(std::move(list), std::move(decisions), audit_request(context, exchange), registrations.metrics());
  AuditedRequest* const begun = audited.get();
  context.audit = std::move(audited);
  return begun;
}

}  // namespace backplane

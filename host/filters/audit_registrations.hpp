// The audit policies and sinks of the server, and what they receive of one request.
//
// Thread-safety: AuditRegistrations: any thread.  AuditedRequest: the executor of its request.
// Lifetime:      a request keeps the registrations that it began with, so a list that has been replaced ends with its last request.
// Errors:        an exception of a policy leaves begin_audit(); one of a sink's store() or flush() is logged.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <vector>

#include "backplane/kit/published.hpp"
#include "backplane/points/audit.hpp"
#include "backplane/points/http.hpp"
#include "filters/audit_metrics.hpp"

namespace backplane {

class AuditRegistrations {
 public:
  using List = std::vector<AuditRegistration>;
  AuditMetrics& metrics() const noexcept { return *metrics_; }
  // The executor that flushes withdrawn sinks; it outlives this object. Without it they are not flushed.
  void use_executor(Executor& executor) noexcept { executor_ = &executor; }
  // Requests that begin after this use `list`.  A sink that `list` leaves out is flushed when the last request that uses it has ended.
  void set(List list);
  // True if nothing is registered; one load.
  bool empty() const noexcept { return empty_.load(std::memory_order_relaxed); }
  std::shared_ptr<const List> get() const { return list_.get(); }
  // Resumes when every sink has written its events, or has failed to. Call it after the last request.
  Task<void> flush() const;

 private:
  std::shared_ptr<AuditSink> flushed_when_released(const std::shared_ptr<AuditSink>& sink) const;

  const std::unique_ptr<AuditMetrics> metrics_ = std::make_unique<AuditMetrics>();
  Executor* executor_ = nullptr;
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);  // flush() has been called
  std::atomic<bool> empty_{true};
  kit::Published<List> list_{std::make_shared<const List>()};
};

// The audit record of a request, and the data of its events.
class AuditedRequest final : public AuditRecord {
 public:
  using Decisions = boost::container::small_vector<AuditDecision, 2>;  // one for each registration
  // `metrics` outlives the request.
  AuditedRequest(std::shared_ptr<const AuditRegistrations::List> registrations, Decisions decisions,
                 std::shared_ptr<const AuditRequest> request, AuditMetrics& metrics);
  // Sends the event of `stage` to each sink that requests it. `code`: of the response; 0: no response has begun. False: a sink has not
  // accepted the event, and the request must await store(). Takes the annotations away from `context` for the last stage, kResponseComplete
  // or kPanic.
  bool reach(RequestContext& context, AuditStage stage, int code);
  // False if a sink has lost an event of the last reach().
  Task<bool> store();
  // True if a response must wait until the last event of the request is processed.
  bool precedes_response() const noexcept { return precedes_response_; }

 private:
  struct Objects;
  struct Waiting {
    std::size_t registration;
    std::shared_ptr<const AuditEvent> event;
  };
  std::shared_ptr<AuditEvent> base_event(RequestContext& context, AuditStage stage, int code) const;
  void set_level(AuditEvent& event, const AuditDecision& decision, Objects& objects) const;

  const std::shared_ptr<const AuditRegistrations::List> registrations_;
  const Decisions decisions_;
  const std::shared_ptr<const AuditRequest> request_;
  AuditMetrics& metrics_;
  bool precedes_response_ = false;
  std::vector<Waiting> waiting_;
};

// Asks the policies.  Null if none audits the request; else it becomes RequestContext::audit.
AuditedRequest* begin_audit(const AuditRegistrations& registrations, RequestContext& context, const Exchange& exchange);

}  // namespace backplane

// The audit policies and sinks of the server, and the data that the sinks receive about one request.
//
// Thread-safety: AuditRegistrations may be used on any thread, AuditedRequest on the executor of its request.
// Lifetime:      a request shares the list of registrations with which it began. A replaced list is released when its last request ends.
// Errors:        begin_audit() throws the exceptions of policies. Exceptions of a sink's store() and flush() are logged.
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
  // Sets the executor that flushes sinks after their removal; it outlives this object. If it is not set, removed sinks are not flushed.
  void use_executor(Executor& executor) noexcept { executor_ = &executor; }
  // Requests that begin after this call use `list`. A sink that `list` does not contain is flushed when the last request that uses the sink
  // has ended.
  void set(List list);
  // Returns true if nothing is registered. The cost is one atomic load.
  bool empty() const noexcept { return empty_.load(std::memory_order_relaxed); }
  std::shared_ptr<const List> get() const { return list_.get(); }
  // Flushes the registered sinks, and resumes when each has written its events or has failed. Must be called after the last request.
  Task<void> flush() const;

 private:
  std::shared_ptr<AuditSink> flushed_when_released(const std::shared_ptr<AuditSink>& sink) const;

  const std::unique_ptr<AuditMetrics> metrics_ = std::make_unique<AuditMetrics>();
  Executor* executor_ = nullptr;
  // true after flush(); removed sinks are then not flushed
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
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
  // Sends the event of `stage` to each sink that requests it. `code`: the response code, or 0 if no response has begun. Returns false if a
  // sink has not accepted the event; the request must then await store(). The last stage is kResponseComplete or kPanic; its event takes
  // the annotations out of `context`.
  bool reach(RequestContext& context, AuditStage stage, int code);
  // Waits until the sinks have stored the events of the last reach(). Returns false if a sink has lost an event.
  Task<bool> store();
  // Returns true if the response must wait until the sinks have processed the last event of the request.
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

// Asks the policies. If none of them audits the request, returns null. Otherwise returns the new AuditedRequest, and stores it in
// RequestContext::audit.
AuditedRequest* begin_audit(const AuditRegistrations& registrations, RequestContext& context, const Exchange& exchange);

}  // namespace backplane

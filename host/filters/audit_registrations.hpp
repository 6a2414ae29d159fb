// The audit policies and sinks of the server, and what they receive of one request.
//
// Thread-safety: AuditRegistrations: any thread.  AuditedRequest: one request.
// Lifetime:      a request keeps the registrations that it began with, so a list that has been replaced ends with its last request.
// Errors:        an exception of a policy leaves begin_audit(); one of a sink's flush() is logged.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backplane/points/audit.hpp"
#include "backplane/points/http.hpp"
#include "base/published.hpp"

namespace backplane {

class AuditRegistrations {
 public:
  using List = std::vector<AuditRegistration>;
  // Requests that begin after this use `list`.
  void set(List list);
  // The check of a request while nothing is registered: one load.
  bool empty() const noexcept { return empty_.load(std::memory_order_relaxed); }
  std::shared_ptr<const List> get() const { return list_.get(); }
  // Resumes when every sink has written its events, or cannot.  Call it after the last request.
  Task<void> flush() const;

 private:
  std::atomic<bool> empty_{true};
  Published<List> list_{std::make_shared<const List>()};
};

// The record of a request, and what its events are made of.
class AuditedRequest final : public AuditRecord {
 public:
  AuditedRequest(std::shared_ptr<const AuditRegistrations::List> registrations, std::vector<AuditDecision> decisions,
                 const RequestContext& context, const Exchange& exchange);
  // Sends the event of `stage` to each sink that wants it.  `code`: of the response; 0: none has begun.
  void reach(const RequestContext& context, AuditStage stage, int code);

 private:
  struct Objects;
  std::shared_ptr<const AuditEvent> event(const AuditEvent& base, const AuditDecision& decision, Objects& objects) const;

  const std::shared_ptr<const AuditRegistrations::List> registrations_;
  const std::vector<AuditDecision> decisions_;  // one for each registration
  AuditEvent first_;                            // what all events of the request have in common
};

// Asks the policies.  Null if none audits the request; else it becomes RequestContext::audit.
AuditedRequest* begin_audit(const AuditRegistrations& registrations, RequestContext& context, const Exchange& exchange);
// The only event of a request that a filter refuses before the policies are asked in their place in the chain.
void audit_refusal(const AuditRegistrations* registrations, RequestContext& context, const Exchange& exchange, const Status& refusal);

}  // namespace backplane

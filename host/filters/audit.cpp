// WithAudit: one event for each stage of a request that a registered policy audits.
#include "base/caught.hpp"
#include "filters/audit_registrations.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

AuditedRequest& audited_in(const RequestContext& context) {
  // Only begin_audit() sets it.
  return static_cast<AuditedRequest&>(*context.audit);
}

// Of a long-running request: the response starts long before it completes, and has an event of its own.
class AuditedExchange final : public FilterExchange {
 public:
  AuditedExchange(Exchange& behind, RequestContext& context) : FilterExchange(behind), context_(context) {}

  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override {
    response_started(code);
    return behind().respond(code, content_type, std::move(body));
  }
  Task<Status> start(int code, std::string_view content_type) override {
    response_started(code);
    return behind().start(code, content_type);
  }
  Task<Status> switch_protocols(std::string_view protocol) override {
    response_started(101);
    return behind().switch_protocols(protocol);
  }
  void response_started(int code) {
    if (!std::exchange(started_, true)) audited_in(context_).reach(context_, AuditStage::kResponseStarted, code);
  }

 private:
  RequestContext& context_;
  bool started_ = false;
};

class WithAudit final : public Filter {
 public:
  explicit WithAudit(const AuditRegistrations& registrations) : registrations_(registrations) {}

  Step enter(FilterCall& call) const override {
    if (registrations_.empty()) return Step::kNext;
    try {
      AuditedRequest* const audited = begin_audit(registrations_, call.context, call.exchange());
      if (audited == nullptr) return Step::kNext;
      audited->reach(call.context, AuditStage::kRequestReceived, 0);
      return Step::kAround;
    } catch (...) {
      const Caught error = caught();
      filters_log().error("an audit policy threw audit-ID={:?} error={}{}", call.context.audit_id, error.what, error.stack);
    }
    // A request that may have to be audited is not served without it.
    call.refusal.status = internal_error("failed to create audit event");
    return Step::kRefuse;
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    RequestContext& context = call.context;
    AuditedRequest& audited = audited_in(context);
    std::exception_ptr error;
    try {
      if (context.long_running) {
        auto serving = run_long(call, rest);
        co_await std::move(serving);
      } else {
        co_await rest.run(call);
      }
    } catch (...) {
      error = std::current_exception();
      audited.panic = caught().what;
    }
    end(context, audited, call.exchange().response_code());
    if (error) std::rethrow_exception(error);
  }

 private:
  static Task<void> run_long(FilterCall& call, const Rest& rest) {
    AuditedExchange exchange(call.exchange(), call.context);
    const InFront in_front(call.context, exchange);
    co_await rest.run(call);
    exchange.response_started(0);
  }
  static void end(const RequestContext& context, AuditedRequest& audited, int code) {
    if (audited.panic.empty()) return audited.reach(context, AuditStage::kResponseComplete, code);
    audited.response_status = Status(500, Reason::kInternalError, "APIServer panic'd: " + audited.panic);
    audited.success_details.reset();
    audited.reach(context, AuditStage::kPanic, 500);
  }

  const AuditRegistrations& registrations_;
};

}  // namespace

FilterPtr with_audit(const ChainConfig& config) { return config.audit != nullptr ? std::make_unique<WithAudit>(*config.audit) : nullptr; }

}  // namespace backplane

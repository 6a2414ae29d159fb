// WithAudit: sends audit events to the sinks, one for each stage of a request, if a registered policy audits the request.
#include "base/caught.hpp"
#include "base/markup.hpp"
#include "filters/audited_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

// Like upstream's responsewriters.InternalError: markup is escaped, so that no browser interprets the response as HTML.
Refusal internal_failure(const FilterCall& call, std::string_view what) {
  return Refusal::plain(500, escaped_markup("Internal Server Error: " + quoted(call.exchange().target()) + ": " + std::string(what)));
}

void log_conflict(const RequestContext& context, std::string_view key, std::string_view kept, std::string_view dropped) {
  filters_log().warn("Failed to set annotations[{:?}] to {:?} for audit:{:?}, it has already been set to {:?}", key, dropped,
                     context.audit_id, kept);
}

class WithAudit final : public Filter {
 public:
  explicit WithAudit(const AuditRegistrations& registrations) : registrations_(registrations) {
    set_annotation_conflict_log(&log_conflict);
  }

  Step enter(FilterCall& call) const override {
    if (registrations_.empty()) return Step::kNext;
    switch (try_audit(registrations_, call)) {
      case AuditBegin::kAudited:
        return Step::kAround;
      case AuditBegin::kNotAudited:
        return Step::kNext;
      case AuditBegin::kFailed:
        break;
    }
    return Step::kRefuse;
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    RequestContext& context = call.context;
    // Only begin_audit() sets RequestContext::audit, so the object is an AuditedRequest.
    AuditedRequest& audited = static_cast<AuditedRequest&>(*context.audit);
    bool stored = audited.reach(context, AuditStage::kRequestReceived, 0);
    if (!stored) stored = co_await audited.store();
    if (!stored) {
      registrations_.metrics().rejected();
      call.refusal = internal_failure(call, "failed to store audit event");
      co_await rest.refuse(call);
      co_return;
    }
    auto serving = serve(call, rest, audited);
    co_await std::move(serving);
  }

 private:
  static Task<void> serve(FilterCall& call, const Rest& rest, AuditedRequest& audited) {
    AuditedExchange exchange(call.exchange(), call.context, audited, call.context.long_running);
    std::exception_ptr error;
    try {
      const ExchangeScope exchange_scope(call.context, exchange);
      co_await rest.run(call);
    } catch (...) {
      error = std::current_exception();
      audited.panic = caught().what;
    }
    if (!exchange.complete(exchange.response_code())) (void)co_await audited.store();
    if (error) std::rethrow_exception(error);
  }

  const AuditRegistrations& registrations_;
};

}  // namespace

AuditBegin try_audit(const AuditRegistrations& registrations, FilterCall& call) {
  try {
    return begin_audit(registrations, call.context, call.exchange()) == nullptr ? AuditBegin::kNotAudited : AuditBegin::kAudited;
  } catch (...) {
    const Caught error = caught();
    filters_log().error("an audit policy threw audit-ID={:?} error={}{}", call.context.audit_id, error.what, error.stack);
  }
  // It is not known whether the request must be audited, so it is refused.
  call.refusal = internal_failure(call, "failed to create audit event");
  return AuditBegin::kFailed;
}

FilterPtr with_audit(const ChainConfig& config) { return config.audit != nullptr ? std::make_unique<WithAudit>(*config.audit) : nullptr; }

}  // namespace backplane

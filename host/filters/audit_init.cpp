// WithAuditInit: sets the audit ID of a request, which the response, the log and the audit events share. The ID is the client's Audit-Id
// header or a new UID.
#include "backplane/core/meta.hpp"
#include "filters/filters.hpp"

namespace backplane {
namespace {

class AuditInit final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    const std::string_view given = call.exchange().header("audit-id");
    call.context.audit_id = given.empty() ? new_uid() : std::string(given);
    call.exchange().set_response_header("Audit-Id", call.context.audit_id);
    return Step::kNext;
  }
};

}  // namespace

FilterPtr with_audit_init(const ChainConfig&) { return std::make_unique<AuditInit>(); }

}  // namespace backplane

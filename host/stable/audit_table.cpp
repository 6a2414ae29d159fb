// Audit sinks of the stable tier.
#include "stable/audit_sink.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

Status check(const bp_audit_sink& table) {
  if (table.write == nullptr) return bad_request("an audit sink needs write()");
  if (table.level < BP_AUDIT_METADATA || table.level > BP_AUDIT_REQUEST_RESPONSE) {
    return bad_request("the level of an audit sink must be BP_AUDIT_METADATA, BP_AUDIT_REQUEST or BP_AUDIT_REQUEST_RESPONSE");
  }
  if (table.when_full > BP_AUDIT_WAIT) return bad_request("when_full of an audit sink must be BP_AUDIT_DROP or BP_AUDIT_WAIT");
  return {};
}

int32_t add_sink(bp_context* context, const bp_audit_sink* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_audit_sink table = copy_of(given);
    if (Status status = check(table); !status.ok()) return status;
    Host& host = *context->host;
    Executor& thread = host.executor("audit/" + text(table.name));
    return host.register_audit({audit_policy_of(table), std::make_shared<TableAuditSink>(table, thread, host.logger())});
  });
}

}  // namespace

const bp_audit_table& audit_table() {
  static const bp_audit_table kTable = {sizeof(bp_audit_table), add_sink};
  return kTable;
}

}  // namespace backplane::stable

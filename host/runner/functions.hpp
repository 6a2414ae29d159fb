// The functions that the host calls in a runner process, and those that a runner process calls in the host.
//
// Thread-safety: constants.
#pragma once

#include <cstdint>
#include <iterator>

namespace backplane::runner {

// The host calls the functions before kLog. The runner process calls kLog and those after it.
enum class Function : std::uint16_t {
  kLoad = 1,
  kConfigure,
  kProvision,
  kValidate,
  kDestroy,
  kSetDefaults,
  kCheck,
  kCheckChange,
  kCheckStatus,
  kConvert,
  kConfigureAdmission,
  kAdmit,
  kValidateWrite,
  kAuthenticate,
  kDecide,
  kHandle,
  kRunHook,
  kRunCheck,
  kEvent,
  kReconcile,
  kWriteAudit,
  kFlushAudit,
  kVisit,
  kLog,
  kFlag,
  kInstall,
  kAddAuthenticator,
  kAddAuthorizer,
  kAddAdmission,
  kWarn,
  kAnnotate,
  kAddPath,
  kHeader,
  kAddPostStart,
  kAddPreShutdown,
  kAddCheck,
  kAddAuditSink,
  kStopping,
  kGet,
  kList,
  kCreate,
  kUpdate,
  kPatch,
  kRemove,
  kInformer,
  kAddController,
  kInformerGet,
  kEach,
  kSynced,
  kEnqueue,
  kEnqueueAfter,
  kEnd,
};

// Which time limit a call has; see `Limits` in runner.hpp.
enum class LimitKind : std::uint8_t { kLifecycle, kRequest, kWaiting, kLong };

struct FunctionRow {
  Function function;
  const char* name;  // for messages
  LimitKind limit_kind;
};
// The functions that the host calls.
inline constexpr FunctionRow kFunctions[] = {
    {Function::kLoad, "the entry point", LimitKind::kLifecycle},
    {Function::kConfigure, "configure()", LimitKind::kLifecycle},
    {Function::kProvision, "provision()", LimitKind::kLifecycle},
    {Function::kValidate, "validate()", LimitKind::kLifecycle},
    {Function::kDestroy, "destroy()", LimitKind::kWaiting},
    {Function::kSetDefaults, "set_defaults()", LimitKind::kRequest},
    {Function::kCheck, "check()", LimitKind::kRequest},
    {Function::kCheckChange, "check_change()", LimitKind::kRequest},
    {Function::kCheckStatus, "check_status()", LimitKind::kRequest},
    {Function::kConvert, "convert()", LimitKind::kRequest},
    {Function::kConfigureAdmission, "configure() of an admission rule", LimitKind::kLifecycle},
    {Function::kAdmit, "admit()", LimitKind::kWaiting},
    {Function::kValidateWrite, "validate() of an admission rule", LimitKind::kWaiting},
    {Function::kAuthenticate, "authenticate()", LimitKind::kWaiting},
    {Function::kDecide, "decide()", LimitKind::kWaiting},
    {Function::kHandle, "handle()", LimitKind::kLong},
    {Function::kRunHook, "run() of a hook", LimitKind::kLong},
    {Function::kRunCheck, "run() of a check", LimitKind::kWaiting},
    {Function::kEvent, "event()", LimitKind::kWaiting},
    {Function::kReconcile, "reconcile()", LimitKind::kLong},
    {Function::kWriteAudit, "write() of an audit sink", LimitKind::kLong},
    {Function::kFlushAudit, "flush() of an audit sink", LimitKind::kLong},
    {Function::kVisit, "visit()", LimitKind::kLong},
};

constexpr const FunctionRow* row_of(std::uint16_t function) {
  const bool known = function > 0 && function <= std::size(kFunctions);
  return known ? &kFunctions[function - 1] : nullptr;
}

}  // namespace backplane::runner

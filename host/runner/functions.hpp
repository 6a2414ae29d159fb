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
enum class Patience : std::uint8_t { kLifecycle, kRequest, kWaiting, kLong };

struct FunctionRow {
  Function function;
  const char* name;  // for messages
  Patience patience;
};
// The functions that the host calls.
inline constexpr FunctionRow kFunctions[] = {
    {Function::kLoad, "the entry point", Patience::kLifecycle},
    {Function::kConfigure, "configure()", Patience::kLifecycle},
    {Function::kProvision, "provision()", Patience::kLifecycle},
    {Function::kValidate, "validate()", Patience::kLifecycle},
    {Function::kDestroy, "destroy()", Patience::kWaiting},
    {Function::kSetDefaults, "set_defaults()", Patience::kRequest},
    {Function::kCheck, "check()", Patience::kRequest},
    {Function::kCheckChange, "check_change()", Patience::kRequest},
    {Function::kCheckStatus, "check_status()", Patience::kRequest},
    {Function::kConvert, "convert()", Patience::kRequest},
    {Function::kConfigureAdmission, "configure() of an admission rule", Patience::kLifecycle},
    {Function::kAdmit, "admit()", Patience::kWaiting},
    {Function::kValidateWrite, "validate() of an admission rule", Patience::kWaiting},
    {Function::kAuthenticate, "authenticate()", Patience::kWaiting},
    {Function::kDecide, "decide()", Patience::kWaiting},
    {Function::kHandle, "handle()", Patience::kLong},
    {Function::kRunHook, "run() of a hook", Patience::kLong},
    {Function::kRunCheck, "run() of a check", Patience::kWaiting},
    {Function::kEvent, "event()", Patience::kWaiting},
    {Function::kReconcile, "reconcile()", Patience::kLong},
    {Function::kWriteAudit, "write() of an audit sink", Patience::kLong},
    {Function::kFlushAudit, "flush() of an audit sink", Patience::kLong},
    {Function::kVisit, "visit()", Patience::kLong},
};

constexpr const FunctionRow* row_of(std::uint16_t function) {
  const bool known = function > 0 && function <= std::size(kFunctions);
  return known ? &kFunctions[function - 1] : nullptr;
}

}  // namespace backplane::runner

#include "runner/proxy.hpp"

namespace backplane::runner {
namespace {

thread_local CallSubject t_subject;

template <class Table>
Table table_of(Proxy& proxy, bp_str Table::*name) {
  Table table{};
  table.struct_size = sizeof(table);
  table.*name = stable::str(proxy.name);
  table.self = &proxy;
  return table;
}

int32_t configure(void* self, bp_str config, bp_error* error) {
  auto& proxy = *static_cast<Proxy*>(self);
  {
    const std::lock_guard lock(proxy.mutex);
    proxy.config = stable::text(config);
  }
  return call_back<Function::kConfigureAdmission>(self, config, error);
}

int32_t run_hook(void* self, bp_error* error) {
  static_cast<Proxy*>(self)->has_run.store(true);
  return call_back<Function::kRunHook>(self, error);
}

// The functions of tables in call_back() have no parameter type for lists, so audiences and events are sent as one encoded text.
int32_t authenticate(void* self, bp_str token, const bp_str* audiences, size_t count, bp_output* user, bp_error* error) {
  Writer list;
  put(list, audiences, count);
  return call_back<Function::kAuthenticate>(self, token, stable::str(list.bytes()), user, error);
}

int32_t write_audit(void* self, const bp_str* events, size_t count, bp_error* error) {
  Writer list;
  put(list, events, count);
  return call_back<Function::kWriteAudit>(self, stable::str(list.bytes()), error);
}

void event(void* self, uint32_t type, bp_str object, bp_str old, bp_queue* queue) {
  const std::lock_guard one_at_a_time(static_cast<Proxy*>(self)->controller->events);
  (void)call_back<Function::kEvent>(self, type, object, old, queue);
}

}  // namespace

CallSubject& call_subject() noexcept { return t_subject; }

bp_kind kind_of(Proxy& proxy, unsigned has) {
  auto table = table_of(proxy, &bp_kind::kind);
  set_call<Function::kSetDefaults>(table, &bp_kind::set_defaults, (has & kHasDefaults) != 0);
  set_call<Function::kCheck>(table, &bp_kind::check, (has & kHasCheck) != 0);
  set_call<Function::kCheckChange>(table, &bp_kind::check_change, (has & kHasCheckChange) != 0);
  set_call<Function::kCheckStatus>(table, &bp_kind::check_status, (has & kHasCheckStatus) != 0);
  set_call<Function::kConvert>(table, &bp_kind::convert, (has & kHasConvert) != 0);
  return table;
}

// The host calls admission rules on a thread of the plugin, so that other requests do not wait for the runner process.
bp_admission admission_of(Proxy& proxy, unsigned has) {
  auto table = table_of(proxy, &bp_admission::name);
  table.configure = (has & kHasConfigure) != 0 ? configure : nullptr;
  set_call<Function::kAdmit>(table, &bp_admission::admit, (has & kHasAdmit) != 0);
  set_call<Function::kValidateWrite>(table, &bp_admission::validate, (has & kHasValidate) != 0);
  return table;
}

bp_authenticator authenticator_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_authenticator::name);
  table.authenticate = authenticate;
  return table;
}

bp_authorizer authorizer_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_authorizer::name);
  set_call<Function::kDecide>(table, &bp_authorizer::decide, true);
  return table;
}

bp_audit_sink audit_sink_of(Proxy& proxy, const bp_audit_sink& given, bool has_flush) {
  bp_audit_sink table = given;
  table.struct_size = sizeof(table);
  table.name = stable::str(proxy.name);
  table.self = &proxy;
  table.write = write_audit;
  set_call<Function::kFlushAudit>(table, &bp_audit_sink::flush, has_flush);
  return table;
}

bp_path path_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_path::path);
  set_call<Function::kHandle>(table, &bp_path::handle, true);
  return table;
}

bp_hook hook_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_hook::name);
  table.run = run_hook;
  return table;
}

bp_check check_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_check::name);
  set_call<Function::kRunCheck>(table, &bp_check::run, true);
  return table;
}

bp_controller controller_of(Proxy& proxy) {
  auto table = table_of(proxy, &bp_controller::name);
  set_call<Function::kReconcile>(table, &bp_controller::reconcile, true);
  return table;
}

bp_watch watch_of(Proxy& proxy, bool has_event) {
  bp_watch table{};
  table.struct_size = sizeof(table);
  table.informer = proxy.informer;
  table.self = &proxy;
  table.event = has_event ? event : nullptr;
  return table;
}

}  // namespace backplane::runner

// The tables of functions that a plugin in a runner process gets. The functions of the JSON table run in this process; the functions of the
// other tables call the host.
#include <algorithm>
#include <iterator>

#include "runner/child.hpp"
#include "runner/proxy.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"

namespace backplane::runner {
namespace {

Child& child() { return Child::instance(); }

// A call that returns nothing; a failure is ignored.
void notify_host(Function function, Writer& out) { (void)child().call(function, out.take()); }

// A call that returns a text, or null and an error.
bp_text* ask(Function function, Writer& out, bp_error* error) {
  std::string answer;
  if (!child().call(function, out, answer, error)) return nullptr;
  Reader in(answer);
  bp_text* const given = take_given(in);
  bp_error wrong{};
  take(in, wrong);
  if (given == nullptr && error != nullptr) *error = wrong;
  return given;
}

int32_t ask_number(Function function, Writer& out) {
  std::string answer;
  if (!child().call(function, out, answer, nullptr)) return 0;
  Reader in(answer);
  int32_t value = 0;
  take(in, value);
  return value;
}

// Makes a registration. If it succeeds, `more` reads what follows its code and error in the answer.
template <class More>
int32_t register_as(Function function, Writer& out, bp_error* error, More more) {
  std::string answer;
  if (!child().call(function, out, answer, error)) return -1;
  Reader in(answer);
  int32_t code = -1;
  take(in, code);
  take(in, *error);
  if (code == 0) more(in);
  return code;
}
int32_t register_as(Function function, Writer& out, bp_error* error) {
  return register_as(function, out, error, [](Reader&) {});
}

// ---- base

void log_line(bp_context*, int32_t level, bp_str line) {
  Writer out;
  put(out, level);
  put(out, line);
  notify_host(Function::kLog, out);
}
bp_text* flag_of(bp_context*, bp_str name) {
  Writer out;
  put(out, name);
  return ask(Function::kFlag, out, nullptr);
}

// ---- groups

int32_t install(bp_context*, const bp_group* given, bp_error* error) {
  const bp_group group = stable::copy_of(given);
  Writer out;
  put(out, group.document);
  put(out, group.schemas, group.schema_count);
  out.number(group.kind_count, 4);
  for (std::size_t i = 0; i < group.kind_count; ++i) {
    const bp_kind kind = stable::copy_of(group.kinds[i]);
    put(out, kind.kind);
    put(out, child().add(kind));
    const unsigned has = (kind.set_defaults != nullptr ? kHasDefaults : 0) | (kind.check != nullptr ? kHasCheck : 0) |
                         (kind.check_change != nullptr ? kHasCheckChange : 0) | (kind.check_status != nullptr ? kHasCheckStatus : 0) |
                         (kind.convert != nullptr ? kHasConvert : 0);
    put(out, static_cast<std::uint8_t>(has));
  }
  return register_as(Function::kInstall, out, error);
}

void field_error(bp_field_errors* errors, uint32_t type, bp_str field, bp_str value, bp_str detail) {
  auto& list = *reinterpret_cast<FieldErrorList*>(errors);
  list.rows.push_back({type, stable::text(field), stable::text(value), stable::text(detail)});
}

// ---- security, admission

int32_t add_authenticator(bp_context*, const bp_authenticator* given, bp_error* error) {
  const bp_authenticator table = stable::copy_of(given);
  if (table.authenticate == nullptr) return stable::fail(error, bad_request("an authenticator needs authenticate()"));
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  put(out, table.flags);
  return register_as(Function::kAddAuthenticator, out, error);
}
int32_t add_authorizer(bp_context*, const bp_authorizer* given, bp_error* error) {
  const bp_authorizer table = stable::copy_of(given);
  if (table.decide == nullptr) return stable::fail(error, bad_request("an authorizer needs decide()"));
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  put(out, table.flags);
  return register_as(Function::kAddAuthorizer, out, error);
}

int32_t add_admission(bp_context*, const bp_admission* given, bp_error* error) {
  const bp_admission table = stable::copy_of(given);
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  const unsigned has = (table.configure != nullptr ? kHasConfigure : 0) | (table.admit != nullptr ? kHasAdmit : 0) |
                       (table.validate != nullptr ? kHasValidate : 0);
  put(out, static_cast<std::uint8_t>(has));
  put(out, table.flags);
  put(out, table.operations);
  out.number(table.match_count, 4);
  for (std::size_t i = 0; i < table.match_count; ++i) put(out, table.matches[i]);
  return register_as(Function::kAddAdmission, out, error);
}
void warn(bp_request*, bp_str text) {
  Writer out;
  put(out, text);
  notify_host(Function::kWarn, out);
}
int32_t annotate(bp_request*, bp_str key, bp_str value, bp_error* error) {
  Writer out;
  put(out, key);
  put(out, value);
  return register_as(Function::kAnnotate, out, error);
}

// ---- audit

int32_t add_audit_sink(bp_context*, const bp_audit_sink* given, bp_error* error) {
  const bp_audit_sink table = stable::copy_of(given);
  if (table.write == nullptr) return stable::fail(error, bad_request("an audit sink needs write()"));
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  put(out, table);
  put(out, static_cast<std::uint8_t>(table.flush != nullptr));
  return register_as(Function::kAddAuditSink, out, error);
}

// ---- http

RemoteExchange& remote(bp_exchange* exchange) { return *reinterpret_cast<RemoteExchange*>(exchange); }

int32_t add_path(bp_context*, const bp_path* given, bp_error* error) {
  const bp_path table = stable::copy_of(given);
  if (table.handle == nullptr) return stable::fail(error, bad_request("a path needs handle()"));
  Writer out;
  put(out, table.path);
  put(out, child().add(table));
  put(out, table.prefix);
  put(out, table.listed);
  put(out, static_cast<std::uint64_t>(table.max_body));
  return register_as(Function::kAddPath, out, error);
}
bp_str header(bp_exchange* exchange, bp_str name) {
  Writer out;
  put(out, name);
  std::string answer;
  if (!child().call(Function::kHeader, out, answer, nullptr)) return {nullptr, 0};
  Reader in(answer);
  std::uint8_t there = 0;
  take(in, there);
  if (there == 0) return {nullptr, 0};
  return stable::str(remote(exchange).headers_read.emplace_back(in.text()));
}
void respond(bp_exchange* exchange, int32_t code, bp_str content_type, bp_str body) {
  RemoteExchange& to = remote(exchange);
  if (to.code != 0) return;
  to.code = code;
  to.content_type = stable::text(content_type);
  to.response = stable::text(body);
}

// ---- lifecycle

int32_t add_hook(Function function, const bp_hook* given, bp_error* error) {
  const bp_hook table = stable::copy_of(given);
  if (table.run == nullptr) return stable::fail(error, bad_request("a hook needs run()"));
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  return register_as(function, out, error);
}
int32_t add_check(bp_context*, const bp_check* given, bp_error* error) {
  const bp_check table = stable::copy_of(given);
  if (table.run == nullptr) return stable::fail(error, bad_request("a check needs run()"));
  Writer out;
  put(out, table.name);
  put(out, child().add(table));
  put(out, table.endpoints);
  return register_as(Function::kAddCheck, out, error);
}

// ---- client

bp_text* call_server(Function function, const bp_resource* resource, bp_str ns, bp_str a, bp_str b, bp_str c, int32_t type,
                     bp_error* error) {
  Writer out;
  put(out, *resource);
  for (const bp_str& each : {ns, a, b, c}) put(out, each);
  put(out, type);
  return ask(function, out, error);
}

// ---- controllers

bp_informer* informer(bp_context*, const bp_resource* resource, bp_str ns, bp_error* error) {
  Writer out;
  put(out, *resource);
  put(out, ns);
  bp_informer* made = nullptr;
  register_as(Function::kInformer, out, error, [&made](Reader& in) {
    std::uint32_t number = 0;
    take(in, number);
    made = child().informer_of(number);
  });
  return made;
}

int32_t add_controller(bp_context*, const bp_controller* given, bp_error* error) {
  const bp_controller table = stable::copy_of(given);
  if (table.reconcile == nullptr) return stable::fail(error, bad_request("a controller needs reconcile()"));
  Writer out;
  put(out, table.name);
  const std::uint32_t controller = child().add(table);
  put(out, controller);
  put(out, table.workers);
  out.number(table.watch_count, 4);
  for (std::size_t i = 0; i < table.watch_count; ++i) {
    const bp_watch watch = stable::copy_of(table.watches[i]);
    if (watch.informer == nullptr) return stable::fail(error, bad_request("a watch has no informer"));
    const std::uint32_t id = child().add(watch);
    child().set_controller(id, controller);
    put(out, id);
    put(out, Child::id_of(watch.informer));
    put(out, static_cast<std::uint8_t>(watch.event != nullptr));
  }
  return register_as(Function::kAddController, out, error);
}

struct Visit {
  void* self;
  int32_t (*visit)(void* self, bp_str key, bp_str object);
  Visit* outer;
};
thread_local Visit* t_visit = nullptr;

int32_t each(bp_informer* informer, void* self, int32_t (*visit)(void* self, bp_str key, bp_str object)) {
  Visit here{self, visit, t_visit};
  t_visit = &here;
  Writer out;
  put(out, Child::id_of(informer));
  const int32_t answer = ask_number(Function::kEach, out);
  t_visit = here.outer;
  return answer;
}
void enqueue(Function function, bp_queue* queue, bp_str key, uint64_t milliseconds) {
  Writer out;
  put(out, Child::id_of(queue));
  put(out, key);
  put(out, milliseconds);
  notify_host(function, out);
}

// ---- tables

const bp_groups_table kGroups = {sizeof(bp_groups_table), install, field_error};
const bp_security_table kSecurity = {sizeof(bp_security_table), add_authenticator, add_authorizer};
const bp_admission_table kAdmission = {sizeof(bp_admission_table), add_admission, warn, annotate};
const bp_audit_table kAudit = {sizeof(bp_audit_table), add_audit_sink};
const bp_http_table kHttp = {
    .struct_size = sizeof(bp_http_table),
    .add = add_path,
    .method = [](bp_exchange* exchange) { return remote(exchange).method; },
    .target = [](bp_exchange* exchange) { return remote(exchange).target; },
    .body = [](bp_exchange* exchange) { return remote(exchange).body; },
    .header = header,
    .user = [](bp_exchange* exchange) { return remote(exchange).user.table(); },
    .add_header = [](bp_exchange* exchange, bp_str name,
                     bp_str value) { remote(exchange).headers.emplace_back(stable::text(name), stable::text(value)); },
    .respond = respond,
};
const bp_lifecycle_table kLifecycle = {
    .struct_size = sizeof(bp_lifecycle_table),
    .add_post_start = [](bp_context*, const bp_hook* hook, bp_error* error) { return add_hook(Function::kAddPostStart, hook, error); },
    .add_pre_shutdown = [](bp_context*, const bp_hook* hook, bp_error* error) { return add_hook(Function::kAddPreShutdown, hook, error); },
    .add_check = add_check,
    .stopping = [](bp_context*) -> int32_t {
      Writer out;
      return ask_number(Function::kStopping, out);
    },
};
const bp_client_table kClient = {
    .struct_size = sizeof(bp_client_table),
    .get = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str name,
              bp_error* error) { return call_server(Function::kGet, resource, ns, name, {}, {}, 0, error); },
    .list = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str labels, bp_str fields,
               bp_error* error) { return call_server(Function::kList, resource, ns, labels, fields, {}, 0, error); },
    .create = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str object,
                 bp_error* error) { return call_server(Function::kCreate, resource, ns, object, {}, {}, 0, error); },
    .update = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str subresource, bp_str object,
                 bp_error* error) { return call_server(Function::kUpdate, resource, ns, subresource, object, {}, 0, error); },
    .patch = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str name, bp_str subresource, int32_t type, bp_str patch,
                bp_error* error) { return call_server(Function::kPatch, resource, ns, name, subresource, patch, type, error); },
    .remove = [](bp_context*, const bp_resource* resource, bp_str ns, bp_str name, bp_str options,
                 bp_error* error) { return call_server(Function::kRemove, resource, ns, name, options, {}, 0, error); },
};
const bp_controllers_table kControllers = {
    .struct_size = sizeof(bp_controllers_table),
    .informer = informer,
    .add = add_controller,
    .get = [](bp_informer* of, bp_str key) -> bp_text* {
      Writer out;
      put(out, Child::id_of(of));
      put(out, key);
      return ask(Function::kInformerGet, out, nullptr);
    },
    .each = each,
    .synced = [](bp_informer* of) -> int32_t {
      Writer out;
      put(out, Child::id_of(of));
      return ask_number(Function::kSynced, out);
    },
    .enqueue = [](bp_queue* queue, bp_str key) { enqueue(Function::kEnqueue, queue, key, 0); },
    .enqueue_after = [](bp_queue* queue, bp_str key, uint64_t milliseconds) { enqueue(Function::kEnqueueAfter, queue, key, milliseconds); },
};

// A storage backend cannot run in a runner process: each call would need two messages, and the store must still be available while the
// server stops.
int32_t refuse_backend(bp_context*, const bp_storage_backend*, bp_error* error) {
  return stable::fail(error, bad_request("a storage backend runs in the server's process: leave the plugin out of --plugin-placement"));
}
const bp_storage_table kStorage = {
    .struct_size = sizeof(bp_storage_table),
    .add = refuse_backend,
    .add_item = [](bp_store_answer*, const bp_key_value*) {},
    .set_range = [](bp_store_answer*, int64_t, int64_t, int32_t) {},
    .set_txn = [](bp_store_answer*, int32_t, int64_t) {},
    .add_event = [](bp_event_stream*, const bp_store_event*) {},
    .push = [](bp_event_stream*, int64_t) -> int32_t { return BP_ENDED; },
    .end = [](bp_event_stream*, const bp_error*) {},
};

const void* table_named(bp_context*, bp_str name, uint32_t version) {
  struct Row {
    std::string_view name;
    const void* table;
  };
  static const Row kRows[] = {{BP_JSON_TABLE, &stable::json_table()},
                              {BP_GROUPS_TABLE, &kGroups},
                              {BP_SECURITY_TABLE, &kSecurity},
                              {BP_ADMISSION_TABLE, &kAdmission},
                              {BP_HTTP_TABLE, &kHttp},
                              {BP_LIFECYCLE_TABLE, &kLifecycle},
                              {BP_CLIENT_TABLE, &kClient},
                              {BP_CONTROLLERS_TABLE, &kControllers},
                              {BP_STORAGE_TABLE, &kStorage},
                              {BP_AUDIT_TABLE, &kAudit}};
  const std::string_view wanted = stable::view(name);
  const auto* const found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.name == wanted; });
  // The runner process has the same versions of the tables as the host.
  return found == std::end(kRows) || stable::find_table(wanted, version) == nullptr ? nullptr : found->table;
}

}  // namespace

std::string visit_page(Reader& in) {
  int32_t answer = 0;
  while (answer == 0 && t_visit != nullptr && !in.complete() && !in.failed()) {
    bp_str key{}, object{};
    take(in, key);
    take(in, object);
    if (!in.failed()) answer = t_visit->visit(t_visit->self, key, object);
  }
  Writer out;
  put(out, answer);
  return out.take();
}

bp_host child_host_table() {
  bp_host table{};
  table.struct_size = sizeof(table);
  table.context = reinterpret_cast<bp_context*>(&Child::instance());
  table.table = table_named;
  table.log = log_line;
  table.write = [](bp_output* output, bp_str bytes) { output->bytes.append(stable::view(bytes)); };
  table.view = [](const bp_text* text) { return stable::str(text->bytes.view()); };
  table.release = [](bp_text* text) { delete text; };
  table.flag = flag_of;
  return table;
}

}  // namespace backplane::runner

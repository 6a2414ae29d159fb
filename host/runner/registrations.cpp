#include "runner/registrations.hpp"

#include <algorithm>
#include <list>

namespace backplane::runner {
namespace {

constexpr std::size_t kLeastMatch = 16, kLeastKind = 9, kLeastWatch = 9;
constexpr std::size_t kMostRegistrations = 4096;

template <class T>
T number_of(Reader& in) {
  T value{};
  take(in, value);
  return value;
}
bp_str text_of(Reader& in) {
  bp_str value{};
  take(in, value);
  return value;
}

}  // namespace

void Registrations::begin(const bp_host& host) {
  host_ = &host;
  begin_again();
}

void Registrations::begin_again() {
  repeated_ = 0;
  open_.store(true);
}

bool Registrations::end() {
  open_.store(false);
  return repeated_ == made_.size();
}

Registrations::Register Registrations::registering(Function function) {
  struct Row {
    Function function;
    Register work;
  };
  static constexpr Row kRows[] = {{Function::kInstall, &Registrations::install},
                                  {Function::kAddAuthenticator, &Registrations::add_authenticator},
                                  {Function::kAddAuthorizer, &Registrations::add_authorizer},
                                  {Function::kAddAdmission, &Registrations::add_admission},
                                  {Function::kAddPath, &Registrations::add_path},
                                  {Function::kAddPostStart, &Registrations::add_post_start},
                                  {Function::kAddPreShutdown, &Registrations::add_pre_shutdown},
                                  {Function::kAddCheck, &Registrations::add_check},
                                  {Function::kAddAuditSink, &Registrations::add_audit_sink},
                                  {Function::kInformer, &Registrations::add_informer},
                                  {Function::kAddController, &Registrations::add_controller}};
  const auto* const found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.function == function; });
  return found == std::end(kRows) ? nullptr : found->work;
}

Result<std::string> Registrations::serve(Function function, std::string_view arguments) {
  if (host_ == nullptr) return Status(Reason::kBadRequest, "the host's tables may be used from provision() on");
  if (const Register work = registering(function)) return register_once(function, work, arguments);
  const Serve work = serving(function);
  if (work == nullptr) return bad_request("the host has no function " + std::to_string(static_cast<int>(function)));
  Reader in(arguments);
  Writer out;
  if (Status status = (this->*work)(function, in, out); !status.ok()) return status;
  if (in.failed()) return bad_request("the arguments of a call cannot be read");
  return out.take();
}

// The plugin may register only in provision(), on the thread that waits for provision().
Result<std::string> Registrations::register_once(Function function, Register work, std::string_view arguments) {
  if (!open_.load() || stable::call_place() != stable::CallPlace::kLifecycle) return bad_request("registrations are made in provision()");
  if (repeated_ < made_.size()) {
    const Made& before = made_[repeated_];
    if (before.function != function || before.arguments != arguments) {
      return Status(Reason::kConflict, "the restarted plugin registers other things than when it was loaded; reload it");
    }
    ++repeated_;
    return before.answer;
  }
  if (made_.size() >= kMostRegistrations) return bad_request("too many registrations");
  Reader in(arguments);
  Writer out, result;
  bp_error error{};
  const int32_t code = (this->*work)(in, out, &error);
  if (in.failed()) return bad_request("the arguments of a registration cannot be read");
  put(result, code);
  put(result, error);
  made_.push_back({function, std::string(arguments), result.take() + out.bytes()});
  ++repeated_;
  return made_.back().answer;
}

Proxy& Registrations::add_proxy(Reader& in, std::string name) {
  const auto id = number_of<std::uint32_t>(in);
  if (id != proxies_.size() || proxies_.size() >= kMostRegistrations) in.fail();
  return proxies_.emplace_back(caller_, static_cast<std::uint32_t>(proxies_.size()), std::move(name));
}

Proxy* Registrations::proxy_of(std::uint32_t id) { return id < proxies_.size() ? &proxies_[id] : nullptr; }
bp_informer* Registrations::informer_of(std::uint32_t id) const { return id < informers_.size() ? informers_[id] : nullptr; }

int32_t Registrations::install(Reader& in, Writer&, bp_error* error) {
  bp_group group{};
  group.struct_size = sizeof(group);
  group.document = text_of(in);
  const auto schemas = take_texts(in);
  group.schemas = schemas.data();
  group.schema_count = schemas.size();
  std::list<bp_kind> kinds;
  std::vector<const bp_kind*> table;
  for (std::uint32_t left = in.count(kLeastKind); left > 0 && !in.failed(); --left) {
    Proxy& proxy = add_proxy(in, stable::text(text_of(in)));
    table.push_back(&kinds.emplace_back(kind_of(proxy, number_of<std::uint8_t>(in))));
  }
  group.kinds = table.data();
  group.kind_count = table.size();
  if (in.failed()) return -1;
  return host_table<bp_groups_table>(BP_GROUPS_TABLE).install(host_->context, &group, error);
}

int32_t Registrations::add_authenticator(Reader& in, Writer&, bp_error* error) {
  Proxy& proxy = add_proxy(in, stable::text(text_of(in)));
  auto table = authenticator_of(proxy);
  proxy.quick = (number_of<std::uint32_t>(in) & BP_BLOCKING) == 0;
  table.flags = BP_BLOCKING;
  return in.failed() ? -1 : host_table<bp_security_table>(BP_SECURITY_TABLE).add_authenticator(host_->context, &table, error);
}

int32_t Registrations::add_authorizer(Reader& in, Writer&, bp_error* error) {
  Proxy& proxy = add_proxy(in, stable::text(text_of(in)));
  auto table = authorizer_of(proxy);
  proxy.quick = (number_of<std::uint32_t>(in) & BP_BLOCKING) == 0;
  table.flags = BP_BLOCKING;
  return in.failed() ? -1 : host_table<bp_security_table>(BP_SECURITY_TABLE).add_authorizer(host_->context, &table, error);
}

int32_t Registrations::add_admission(Reader& in, Writer&, bp_error* error) {
  Proxy& proxy = add_proxy(in, stable::text(text_of(in)));
  bp_admission table = admission_of(proxy, number_of<std::uint8_t>(in));
  const auto flags = number_of<std::uint32_t>(in);
  proxy.quick = (flags & BP_BLOCKING) == 0;
  table.flags = flags | BP_BLOCKING;
  table.operations = number_of<std::uint32_t>(in);
  std::vector<bp_match> matches(in.count(kLeastMatch));
  for (auto& match : matches) take(in, match);
  table.matches = matches.data();
  table.match_count = matches.size();
  return in.failed() ? -1 : host_table<bp_admission_table>(BP_ADMISSION_TABLE).add(host_->context, &table, error);
}

int32_t Registrations::add_path(Reader& in, Writer&, bp_error* error) {
  bp_path table = path_of(add_proxy(in, stable::text(text_of(in))));
  take(in, table.prefix);
  take(in, table.listed);
  table.max_body = number_of<std::uint64_t>(in);
  return in.failed() ? -1 : host_table<bp_http_table>(BP_HTTP_TABLE).add(host_->context, &table, error);
}

int32_t Registrations::add_post_start(Reader& in, Writer&, bp_error* error) {
  const bp_hook table = hook_of(add_proxy(in, stable::text(text_of(in))));
  return in.failed() ? -1 : host_table<bp_lifecycle_table>(BP_LIFECYCLE_TABLE).add_post_start(host_->context, &table, error);
}

int32_t Registrations::add_pre_shutdown(Reader& in, Writer&, bp_error* error) {
  const bp_hook table = hook_of(add_proxy(in, stable::text(text_of(in))));
  return in.failed() ? -1 : host_table<bp_lifecycle_table>(BP_LIFECYCLE_TABLE).add_pre_shutdown(host_->context, &table, error);
}

int32_t Registrations::add_check(Reader& in, Writer&, bp_error* error) {
  bp_check table = check_of(add_proxy(in, stable::text(text_of(in))));
  take(in, table.endpoints);
  return in.failed() ? -1 : host_table<bp_lifecycle_table>(BP_LIFECYCLE_TABLE).add_check(host_->context, &table, error);
}

int32_t Registrations::add_audit_sink(Reader& in, Writer&, bp_error* error) {
  Proxy& proxy = add_proxy(in, stable::text(text_of(in)));
  bp_audit_sink settings{};
  take(in, settings);
  const bp_audit_sink table = audit_sink_of(proxy, settings, number_of<std::uint8_t>(in) != 0);
  return in.failed() ? -1 : host_table<bp_audit_table>(BP_AUDIT_TABLE).add(host_->context, &table, error);
}

int32_t Registrations::add_informer(Reader& in, Writer& out, bp_error* error) {
  bp_resource resource{};
  take(in, resource);
  const bp_str ns = text_of(in);
  if (in.failed()) return -1;
  bp_informer* const made = host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE).informer(host_->context, &resource, ns, error);
  if (made == nullptr) return -1;
  const auto found = std::find(informers_.begin(), informers_.end(), made);
  put(out, static_cast<std::uint32_t>(found - informers_.begin()));
  if (found == informers_.end()) informers_.push_back(made);
  return 0;
}

int32_t Registrations::add_controller(Reader& in, Writer&, bp_error* error) {
  Proxy& controller = add_proxy(in, stable::text(text_of(in)));
  bp_controller table = controller_of(controller);
  take(in, table.workers);
  std::list<bp_watch> watches;
  std::vector<const bp_watch*> list;
  for (std::uint32_t left = in.count(kLeastWatch); left > 0 && !in.failed(); --left) {
    Proxy& watch = add_proxy(in, controller.name);
    watch.controller = &controller;
    watch.informer = informer_of(number_of<std::uint32_t>(in));
    const bool has_event = number_of<std::uint8_t>(in) != 0;
    list.push_back(&watches.emplace_back(watch_of(watch, has_event)));
    watches_.push_back({&watch, has_event});
  }
  table.watches = list.data();
  table.watch_count = list.size();
  return in.failed() ? -1 : host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE).add(host_->context, &table, error);
}

void Registrations::notify_controllers() const {
  for (const Watched& watched : watches_) {
    bp_queue* const queue = watched.proxy->controller->queue.load();
    if (queue == nullptr || watched.proxy->informer == nullptr) continue;
    const auto& controllers = host_table<bp_controllers_table>(BP_CONTROLLERS_TABLE);
    struct EventContext {
      const Watched& watched;
      bp_watch table;
      bp_queue* queue;
      const bp_controllers_table& controllers;
    } event_context{watched, watch_of(*watched.proxy, watched.has_event), queue, controllers};
    controllers.each(watched.proxy->informer, &event_context, [](void* self, bp_str key, bp_str object) -> int32_t {
      auto& to = *static_cast<EventContext*>(self);
      if (to.watched.has_event) {
        to.table.event(to.table.self, BP_ADDED, object, {}, to.queue);
      } else {
        to.controllers.enqueue(to.queue, key);
      }
      return 0;
    });
  }
}

}  // namespace backplane::runner

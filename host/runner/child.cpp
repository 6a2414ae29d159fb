#include "runner/child.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "runner/proxy.hpp"
#include "stable/bridge.hpp"

namespace backplane::runner {
namespace {

// The host's limits are shorter: the host ends the call or the process earlier.
constexpr std::chrono::minutes kCallTimeout{10};

Child* g_child = nullptr;

// Reads the arguments from the payload, calls a function of a table of the plugin with them, and returns the encoded results.
template <class Table, class Result, class... Arguments>
std::string call_plugin(const Table& table, Result (*function)(void*, Arguments...), Reader& in, bp_queue* queue = nullptr) {
  std::tuple<typename Parameter<Arguments>::Kept...> kept;
  return std::apply(
      [&](auto&... each) {
        (each.take(in), ...);
        if constexpr ((std::is_same_v<Arguments, bp_queue*> || ...)) std::get<typename Parameter<bp_queue*>::Kept>(kept).value = queue;
        Writer out;
        if (in.failed()) return std::string();
        if constexpr (std::is_void_v<Result>) {
          function(table.self, each.given()...);
          put(out, std::int32_t{0});
        } else {
          put(out, function(table.self, each.given()...));
        }
        (each.answer(out), ...);
        return out.take();
      },
      kept);
}

template <class Table>
const Table* table_in(const Child::Target& target) {
  return std::get_if<Table>(&target);
}

template <auto kMember, class Table>
std::string serve_member(Child&, std::uint32_t, const Child::Target& target, Reader& in) {
  const Table* table = table_in<Table>(target);
  if (table == nullptr || table->*kMember == nullptr) return {};
  return call_plugin(*table, table->*kMember, in);
}

std::string serve_authenticate(Child&, std::uint32_t, const Child::Target& target, Reader& in) {
  const auto* table = table_in<bp_authenticator>(target);
  if (table == nullptr) return {};
  bp_str token{}, list{};
  take(in, token);
  take(in, list);
  Reader of_list(stable::view(list));
  const auto audiences = take_texts(of_list);
  if (in.failed() || !of_list.complete()) return {};
  bp_output user;
  bp_error error{};
  Writer out;
  put(out, table->authenticate(table->self, token, audiences.data(), audiences.size(), &user, &error));
  out.text(user.bytes);
  put(out, error);
  return out.take();
}

std::string serve_write_audit(Child&, std::uint32_t, const Child::Target& target, Reader& in) {
  const auto* table = table_in<bp_audit_sink>(target);
  if (table == nullptr) return {};
  bp_str list{};
  take(in, list);
  Reader of_list(stable::view(list));
  const auto events = take_texts(of_list);
  if (in.failed() || !of_list.complete()) return {};
  bp_error error{};
  Writer out;
  put(out, table->write(table->self, events.data(), events.size(), &error));
  put(out, error);
  return out.take();
}

std::string serve_event(Child& child, std::uint32_t id, const Child::Target& target, Reader& in) {
  const auto* table = table_in<bp_watch>(target);
  if (table == nullptr || table->event == nullptr) return {};
  return call_plugin(*table, table->event, in, child.queue_of(id));
}

std::string serve_reconcile(Child& child, std::uint32_t id, const Child::Target& target, Reader& in) {
  const auto* table = table_in<bp_controller>(target);
  if (table == nullptr) return {};
  return call_plugin(*table, table->reconcile, in, child.queue_of(id));
}

}  // namespace

Child::Child(int socket, std::string file, ChildEvents events)
    : file_(std::move(file)),
      events_(std::move(events)),
      channel_(
          socket, [this](std::uint16_t function, std::string_view payload) { return serve(static_cast<Function>(function), payload); },
          ChannelLimits{kChannelLimits.served, kChannelLimits.made}, "plugin-call") {
  g_child = this;
}
Child::~Child() = default;
Child& Child::instance() { return *g_child; }

void Child::run() {
  channel_.on_closed([this] {
    const std::lock_guard lock(ended_mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  });
  channel_.start();
  std::unique_lock lock(ended_mutex_);
  ended_changed_.wait(lock, [this] { return ended_; });
}

// ---- calls of the host

Result<std::string> Child::call(Function function, std::string arguments) {
  return channel_.call(static_cast<std::uint16_t>(function), std::move(arguments), Channel::Clock::now() + kCallTimeout);
}

bool Child::call(Function function, Writer& arguments, std::string& answer, bp_error* error) {
  auto got = call(function, arguments.take());
  if (!got.ok()) return stable::fail(error, got.status()), false;
  answer = std::move(*got);
  return true;
}

std::uint32_t Child::add(Target target) {
  targets_.push_back(std::move(target));
  return static_cast<std::uint32_t>(targets_.size() - 1);
}

namespace {

template <class Handle>
Handle* handle_of(std::map<std::uint32_t, std::unique_ptr<std::uint32_t>>& handles, std::mutex& mutex, std::uint32_t id) {
  const std::lock_guard lock(mutex);
  auto& handle = handles[id];
  if (!handle) handle = std::make_unique<std::uint32_t>(id);
  return reinterpret_cast<Handle*>(handle.get());
}

}  // namespace

bp_queue* Child::queue_of(std::uint32_t id) {
  const auto controller = controllers_.find(id);
  return handle_of<bp_queue>(queues_, handles_mutex_, controller == controllers_.end() ? id : controller->second);
}
std::uint32_t Child::id_of(const bp_queue* queue) { return *reinterpret_cast<const std::uint32_t*>(queue); }
bp_informer* Child::informer_of(std::uint32_t number) { return handle_of<bp_informer>(informers_, handles_mutex_, number); }
std::uint32_t Child::id_of(const bp_informer* informer) { return *reinterpret_cast<const std::uint32_t*>(informer); }

// ---- calls by the host

Child::Serve Child::serving(Function function) {
  switch (function) {
    case Function::kSetDefaults:
      return serve_member<&bp_kind::set_defaults, bp_kind>;
    case Function::kCheck:
      return serve_member<&bp_kind::check, bp_kind>;
    case Function::kCheckChange:
      return serve_member<&bp_kind::check_change, bp_kind>;
    case Function::kCheckStatus:
      return serve_member<&bp_kind::check_status, bp_kind>;
    case Function::kConvert:
      return serve_member<&bp_kind::convert, bp_kind>;
    case Function::kConfigureAdmission:
      return serve_member<&bp_admission::configure, bp_admission>;
    case Function::kAdmit:
      return serve_member<&bp_admission::admit, bp_admission>;
    case Function::kValidateWrite:
      return serve_member<&bp_admission::validate, bp_admission>;
    case Function::kAuthenticate:
      return serve_authenticate;
    case Function::kDecide:
      return serve_member<&bp_authorizer::decide, bp_authorizer>;
    case Function::kHandle:
      return serve_member<&bp_path::handle, bp_path>;
    case Function::kRunHook:
      return serve_member<&bp_hook::run, bp_hook>;
    case Function::kRunCheck:
      return serve_member<&bp_check::run, bp_check>;
    case Function::kEvent:
      return serve_event;
    case Function::kReconcile:
      return serve_reconcile;
    case Function::kWriteAudit:
      return serve_write_audit;
    case Function::kFlushAudit:
      return serve_member<&bp_audit_sink::flush, bp_audit_sink>;
    default:
      return nullptr;
  }
}

Result<std::string> Child::serve(Function function, std::string_view payload) {
  Reader in(payload);
  if (function <= Function::kDestroy) return serve_lifecycle(function, in);
  const auto id = static_cast<std::uint32_t>(in.number(4));
  if (function == Function::kVisit) return visit_page(in);
  const Serve work = serving(function);
  if (work == nullptr || id >= targets_.size()) return bad_request("the plugin has not registered this function");
  events_.running(row_of(static_cast<std::uint16_t>(function))->name);
  std::string answer = work(*this, id, targets_[id], in);
  events_.running(nullptr);
  if (answer.empty()) return bad_request("the plugin does not have this function, or its arguments cannot be read");
  return answer;
}

namespace {

std::string outcome(std::int32_t code, const bp_error& error) {
  Writer out;
  put(out, code);
  put(out, error);
  return out.take();
}

}  // namespace

Result<std::string> Child::serve_lifecycle(Function function, Reader& in) {
  if (function == Function::kLoad) return load();
  const FunctionRow* const row = row_of(static_cast<std::uint16_t>(function));
  const auto running = events_.lifecycle(row->name);
  bp_error error{};
  switch (function) {
    case Function::kConfigure: {
      bp_str config{};
      take(in, config);
      return outcome(plugin_.configure != nullptr ? plugin_.configure(plugin_.self, config, &error) : 0, error);
    }
    case Function::kProvision:
      host_ = child_host_table();
      return outcome(plugin_.provision != nullptr ? plugin_.provision(plugin_.self, &host_, &error) : -1, error);
    case Function::kValidate:
      return outcome(plugin_.validate != nullptr ? plugin_.validate(plugin_.self, &error) : 0, error);
    default:
      if (plugin_.destroy != nullptr) plugin_.destroy(plugin_.self);
      return outcome(0, error);
  }
}

// Loads the file and calls the plugin's entry point.
std::string Child::load() {
  bp_error error{};
  const void* entry = nullptr;
  {
    const auto running = events_.lifecycle("static initializers");
    void* const library = ::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    entry = library != nullptr ? ::dlsym(library, BP_STABLE_ENTRY) : nullptr;
    if (library == nullptr) {
      const char* const text = ::dlerror();
      return outcome(stable::fail(&error, text != nullptr ? text : "the file cannot be loaded"), error);
    }
  }
  if (entry == nullptr) return outcome(stable::fail(&error, std::string("the file does not export ") + BP_STABLE_ENTRY), error);
  events_.mapped(entry);
  const auto running = events_.lifecycle("constructor");
  const bp_plugin* const made = reinterpret_cast<stable::Entry>(reinterpret_cast<std::uintptr_t>(entry))(&error);
  if (made == nullptr) return outcome(-1, error);
  plugin_ = stable::copy_of(made);
  if (plugin_.provision == nullptr) return outcome(stable::fail(&error, "the plugin's table has no provision()"), error);
  return outcome(0, error);
}

}  // namespace backplane::runner

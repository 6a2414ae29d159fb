// Hooks and health checks of the stable tier.
#include "backplane/points/hooks.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

using Run = int32_t (*)(void* self, bp_error* error);

Task<Status> run_call(bp_context& context, Run run, void* self) {
  Status status;
  auto running = context.threads->run([&status, run, self] {
    bp_error error{};
    if (run(self, &error) != 0) status = status_of(error);
  });
  co_await std::move(running);
  co_return status;
}

class TableCheck final : public HealthCheck {
 public:
  TableCheck(bp_context& context, const bp_check& table) : context_(context), table_(table), name_(text(table.name)) {}
  std::string name() const override { return name_; }
  Task<Status> check() override { return run_call(context_, table_.run, table_.self); }

 private:
  bp_context& context_;
  const bp_check table_;
  const std::string name_;
};

int32_t add_start(bp_context* context, const bp_hook* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_hook hook = copy_of(given);
    if (hook.run == nullptr) return bad_request("a hook needs run()");
    return context->host->add_post_start_hook(text(hook.name),
                                              [context, hook](PostStartHookContext) { return run_call(*context, hook.run, hook.self); });
  });
}

int32_t add_shutdown(bp_context* context, const bp_hook* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_hook hook = copy_of(given);
    if (hook.run == nullptr) return bad_request("a hook needs run()");
    return context->host->add_pre_shutdown_hook(text(hook.name), [context, hook] { return run_call(*context, hook.run, hook.self); });
  });
}

int32_t add_table_check(bp_context* context, const bp_check* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_check check = copy_of(given);
    if (check.run == nullptr) return bad_request("a check needs run()");
    HealthEndpoints where;
    where.healthz = (check.endpoints & BP_HEALTHZ) != 0;
    where.livez = (check.endpoints & BP_LIVEZ) != 0;
    where.readyz = (check.endpoints & BP_READYZ) != 0;
    return context->host->add_health_check(std::make_shared<TableCheck>(*context, check), where);
  });
}

}  // namespace

const bp_lifecycle_table& lifecycle_table() {
  static const bp_lifecycle_table kTable = {sizeof(bp_lifecycle_table), add_start, add_shutdown, add_table_check,
                                            [](bp_context* context) -> int32_t { return context->host->stop_signal().fired() ? 1 : 0; }};
  return kTable;
}

}  // namespace backplane::stable

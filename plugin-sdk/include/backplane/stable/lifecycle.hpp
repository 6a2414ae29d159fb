// Hooks and health checks (lifecycle.h).
//
// Thread-safety: hooks and checks are called on threads of the plugin.
// Lifetime:      the Host stores hooks and checks as long as the plugin exists.
// Errors:        a hook or check that throws has failed.
#pragma once

#include <functional>
#include <string>

#include "backplane/stable/base.hpp"
#include "backplane/stable/lifecycle.h"

namespace backplane::stable {

using Run = std::function<void()>;

namespace detail {

struct KeptRun {
  std::string name;
  Run run;
};
inline int32_t run_kept(void* self, bp_error* error) {
  return barrier(error, [&] { static_cast<KeptRun*>(self)->run(); });
}
inline bp_hook hook_of(KeptRun* kept) { return {sizeof(bp_hook), str(kept->name), kept, run_kept}; }

}  // namespace detail

// Register hooks and checks. Call these functions in provision().
inline void add_post_start(Host& host, std::string name, Run run) {
  const bp_hook hook = detail::hook_of(host.keep(detail::KeptRun{std::move(name), std::move(run)}));
  const auto& table = host.find<bp_lifecycle_table>(BP_LIFECYCLE_TABLE, 1);
  detail::checked([&](bp_error* error) { return table.add_post_start(host.context(), &hook, error); });
}
inline void add_pre_shutdown(Host& host, std::string name, Run run) {
  const bp_hook hook = detail::hook_of(host.keep(detail::KeptRun{std::move(name), std::move(run)}));
  const auto& table = host.find<bp_lifecycle_table>(BP_LIFECYCLE_TABLE, 1);
  detail::checked([&](bp_error* error) { return table.add_pre_shutdown(host.context(), &hook, error); });
}
inline void add_check(Host& host, std::string name, Run run, std::uint32_t endpoints = BP_HEALTHZ | BP_LIVEZ | BP_READYZ) {
  auto* kept = host.keep(detail::KeptRun{std::move(name), std::move(run)});
  const bp_check check = {sizeof(bp_check), str(kept->name), kept, endpoints, detail::run_kept};
  const auto& table = host.find<bp_lifecycle_table>(BP_LIFECYCLE_TABLE, 1);
  detail::checked([&](bp_error* error) { return table.add_check(host.context(), &check, error); });
}
// Whether the server has begun to shut down.
inline bool stopping(const Host& host) { return host.find<bp_lifecycle_table>(BP_LIFECYCLE_TABLE, 1).stopping(host.context()) != 0; }

}  // namespace backplane::stable

// Hooks and health checks of plugins, where what they throw becomes a status that names plugin and hook.
//
// Thread-safety: as what they wrap.  Errors: InternalError with the code PLG-RUN of a hook that threw.
#pragma once

#include <memory>
#include <string>

#include <backplane/host.hpp>

namespace backplane {

Task<Status> fenced_post_start(std::string plugin, std::string name, PostStartHook hook, PostStartHookContext context);
Task<Status> fenced_pre_shutdown(std::string plugin, std::string name, PreShutdownHook hook);
// `name` is the name under which it was admitted.
std::shared_ptr<HealthCheck> fenced_health_check(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check);

}  // namespace backplane

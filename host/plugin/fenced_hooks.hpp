// Wraps hooks, health checks and callbacks of plugins: an exception becomes a status or a log line that names plugin and hook.
//
// Thread-safety: as the wrapped functions.
// Errors:        kInternalError if the wrapped function throws. The error of a hook or health check has the code PLG-LIFE-013. The log has
//                the stack, except for health checks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <backplane/host.hpp>
#include <backplane/points/admission.hpp>

#include "base/hold.hpp"

namespace backplane {

Task<Status> fenced_post_start(std::string plugin, std::string name, PostStartHook hook, PostStartHookContext context);
Task<Status> fenced_pre_shutdown(std::string plugin, std::string name, PreShutdownHook hook);
// `name`: the name under which the check was registered.
std::shared_ptr<HealthCheck> fenced_health_check(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check);
// If the factory of the storage backend `name` throws or returns null, the result is an error.
Host::StorageBackendFactory fenced_factory(std::string plugin, std::string name, Host::StorageBackendFactory factory);
// If the factory of the admission plugin `name` throws or returns null, the result is an error. The admission plugin shares `hold`.
AdmissionRegistration::Factory fenced_admission(std::string name, AdmissionRegistration::Factory factory, Hold hold);
// `what`: "callback of the signal StopPlugins".
std::function<void()> fenced_callback(std::string plugin, std::string what, std::function<void()> callback);
// Logs the exception that is being handled, for callbacks whose caller cannot receive an error.
void log_thrown(const std::string& plugin, const std::string& what);

}  // namespace backplane

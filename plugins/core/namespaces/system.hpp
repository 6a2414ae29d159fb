// The objects that a new server creates: the system namespaces.
//
// Thread-safety: the hooks run on an executor of the host.
// Errors:        a failed creation is logged and retried: a conflicting object must not prevent startup, because then no client could
//                remove it.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/logger.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::core {

// Creates the system namespaces that are missing, and returns an error if one could not be created.
Task<Status> make_system_namespaces(ApiClient& client);
// Once a minute, creates system namespaces that are missing, until `stop` fires.
Task<void> keep_system_namespaces(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

Object new_namespace(std::string_view name);
// Creates an object unless it exists.  The server may still be opening its store: kServiceUnavailable is retried.
Task<Status> make_if_missing(ApiClient& client, GroupVersionResource resource, std::string ns, Object object);

}  // namespace backplane::core

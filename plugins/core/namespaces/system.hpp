// What a new server has from the start: the system namespaces.
//
// Thread-safety: the hooks run on an executor of the host.
// Errors:        what cannot be made is logged and tried again: an object of somebody's that stands in the way must not keep the
//                server from starting, or nobody could remove it.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/logger.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::core {

// Makes them, once; the Status says what could not be made.
Task<Status> make_system_namespaces(ApiClient& client);
// Makes again what somebody has removed, until `stop` fires.
Task<void> keep_system_namespaces(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

Object new_namespace(std::string_view name);
// Makes an object unless it is there.  The server may still be opening its store: "not now" is asked again.
Task<Status> make_if_missing(ApiClient& client, GroupVersionResource resource, std::string ns, Object object);

}  // namespace backplane::core

// What a new server has from the start: the system namespaces.
//
// Thread-safety: the hooks run on an executor of the host.
// Errors:        what cannot be made is logged and tried again: an object of somebody's that stands in the way must not keep the
//                server from starting, or nobody could remove it.
#pragma once

#include <string>
#include <string_view>

#include "backplane/hooks.hpp"
#include "backplane/logger.hpp"

namespace backplane::core {

// Makes them, once; the Status says what could not be made.
Task<Status> make_system_namespaces(LoopbackClient& client);
// Makes again what somebody has removed, until `stop` fires.
Task<void> keep_system_namespaces(LoopbackClient& client, Signal& stop, Logger& logger);

std::string namespace_body(std::string_view name);
// Makes an object unless it is there.  The server may still be opening its store: "not now" is asked again.
Task<Status> make_if_missing(LoopbackClient& client, std::string collection, std::string name, std::string body);

}  // namespace backplane::core

// The priority classes that the server keeps.
//
// Thread-safety: runs on the executor of the hook that calls it.
// Errors:        what kept one of them from being made for half a minute.
#pragma once

#include "backplane/core/logger.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::scheduling {

// Makes those that are not there.  The server may still be opening its store: it is asked again, until `stop` fires.
Task<Status> make_system_classes(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

}  // namespace backplane::scheduling

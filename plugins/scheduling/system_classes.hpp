// The priority classes that the server maintains.
//
// Thread-safety: runs on the executor of the hook that calls it.
// Errors:        the last error, after half a minute of attempts.
#pragma once

#include "backplane/core/logger.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::scheduling {

// Creates missing classes. Repeats failed attempts until `stop` fires, because the server may still be opening its store.
Task<Status> make_system_classes(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

}  // namespace backplane::scheduling

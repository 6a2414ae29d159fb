// Checks whether the server of an APIService responds: its group version is requested five times concurrently, and one good response is
// enough (remote.AvailableConditionController).
//
// Thread-safety: the host's executor.
// Lifetime:      the host outlives the task, which ends within six seconds.
#pragma once

#include <memory>
#include <string>

#include "remote_backend.hpp"

namespace backplane {

// Returns the problem as the message of the condition; empty: there is none.
Task<std::string> discovery_problem(Host& host, std::shared_ptr<RemoteBackend> backend);

}  // namespace backplane

// Whether the server of an APIService answers: its group version is asked for, five times at once, and one good answer is enough
// (remote.AvailableConditionController).
//
// Thread-safety: the host's executor.
// Lifetime:      the host and the backend until the task ends; it ends within six seconds.
#pragma once

#include <memory>
#include <string>

#include "remote_backend.hpp"

namespace backplane {

// Empty, or what is wrong, as the condition's message says it.
Task<std::string> discovery_problem(Host& host, std::shared_ptr<RemoteBackend> backend);

}  // namespace backplane

// One version of a custom resource, as long as its definition stays: the host's storage, which takes nothing new while the definition is
// being deleted.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared with the route table; keeps the storage below alive.
// Errors:        as rest.hpp.
#pragma once

#include <atomic>
#include <memory>

#include "backplane/rest.hpp"

namespace backplane::apiextensions {

// Set while the definition is being deleted.
using Terminating = std::shared_ptr<std::atomic<bool>>;

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<StandardStorage> version, std::string plural,
                                                     std::string deprecation_warning, Terminating terminating);

}  // namespace backplane::apiextensions

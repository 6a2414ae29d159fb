// The storage of CustomResourceDefinitions as it is served: the host's, but for the version that it says its objects are stored in.
//
// Thread-safety: every method from any executor.
// Lifetime:      keeps the store below alive.
// Errors:        as rest.hpp.
#pragma once

#include <memory>

#include "backplane/rest.hpp"

namespace backplane::apiextensions {

// Upstream still stores definitions as apiextensions.k8s.io/v1beta1, which clients see as a hash in discovery.
std::shared_ptr<StandardStorage> make_definition_storage(std::shared_ptr<StandardStorage> store);

}  // namespace backplane::apiextensions

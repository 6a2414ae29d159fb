// The storage of a served version of a resource whose objects are stored in another version. Forwards every verb to the store of the stored
// version ("the store below"), and converts the objects of requests and responses.
//
// Thread-safety: every method from any executor; never changes after construction.
// Lifetime:      shared; keeps the store below.
// Errors:        those of the converter, and of the store below, worded with the names of the served version.
#pragma once

#include <memory>

#include "registry/conversion.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {

// `config`: of the served version, completed (completed_config.hpp); its stored_kind is the kind that `below` stores.
std::shared_ptr<StandardStorage> make_converting_store(std::shared_ptr<ObjectStore> below, ResourceConfig config,
                                                       std::shared_ptr<StoreEnvironment::State> environment);

}  // namespace backplane::registry

// A served version of a resource whose objects are stored in another: forwards every verb to the store below, and converts the objects of
// requests and responses.
//
// Thread-safety: every method from any executor; never changes after construction.
// Lifetime:      shared; keeps the store below.
// Errors:        those of the store below under this version's names, and of the converter.
#pragma once

#include <memory>

#include "registry/conversion.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {

// `config` is complete and names the version that `below` stores.
std::shared_ptr<StandardStorage> make_converting_store(std::shared_ptr<ObjectStore> below, ResourceConfig config,
                                                       std::shared_ptr<StoreEnvironment::State> environment);

}  // namespace backplane::registry

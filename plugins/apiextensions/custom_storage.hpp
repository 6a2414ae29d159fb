// One version of a custom resource: the roles of the store below, with every object converted on its way in and out.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared with the route table; keeps the store below alive.
// Errors:        as rest.hpp.
#pragma once

#include <atomic>
#include <memory>

#include "backplane/rest.hpp"
#include "converter.hpp"

namespace backplane::apiextensions {

// Set while the definition is being deleted: nothing new is taken then.
using Terminating = std::shared_ptr<std::atomic<bool>>;

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Converter> converter,
                                                     Terminating terminating);
// `status` is the host's subresource over the same store: Getter and Updater.
std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<RestStorage> status, std::shared_ptr<const Converter> converter);

}  // namespace backplane::apiextensions

// Strategies of CustomResourceDefinition: rules that its schema cannot express.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>

#include "backplane/rest/strategy.hpp"

namespace backplane::apiextensions {

std::shared_ptr<const Strategy> make_definition_strategy();
// For updates of /status.  They may also change finalizers, because upstream's controllers do so.
std::shared_ptr<const Strategy> make_definition_status_strategy();

}  // namespace backplane::apiextensions

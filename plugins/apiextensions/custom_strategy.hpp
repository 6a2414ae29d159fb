// Strategies of custom resources, over the version that is stored.
//
// Objects of other versions are checked by the storage that converts them (custom_storage.hpp), before they get here.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>

#include "backplane/strategy.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

std::shared_ptr<const Strategy> make_custom_strategy(std::shared_ptr<const CustomResource> resource);
std::shared_ptr<const Strategy> make_custom_status_strategy(std::shared_ptr<const CustomResource> resource);

}  // namespace backplane::apiextensions

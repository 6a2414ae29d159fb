// Strategies of custom resources. One strategy applies to objects in the stored version, and has the facts of the whole resource. Another
// one applies to objects in a served version, and has the rules of that version.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>

#include "backplane/rest/strategy.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

// For objects in the stored version.
std::shared_ptr<const Strategy> make_custom_strategy(std::shared_ptr<const CustomResource> resource);
std::shared_ptr<const Strategy> make_custom_status_strategy(std::shared_ptr<const CustomResource> resource);

// For objects in `version`, a version of the resource.
std::shared_ptr<const Strategy> make_version_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version);
std::shared_ptr<const Strategy> make_version_status_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version);

}  // namespace backplane::apiextensions

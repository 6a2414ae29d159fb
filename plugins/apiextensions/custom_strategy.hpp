// Strategies of custom resources: what holds for all versions, on the stored form, and the rules of one version, on its own.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>

#include "backplane/rest/strategy.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

// On the stored form.
std::shared_ptr<const Strategy> make_custom_strategy(std::shared_ptr<const CustomResource> resource);
std::shared_ptr<const Strategy> make_custom_status_strategy(std::shared_ptr<const CustomResource> resource);

// On the form of `version`, which is one of the resource's.
std::shared_ptr<const Strategy> make_version_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version);
std::shared_ptr<const Strategy> make_version_status_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version);

}  // namespace backplane::apiextensions

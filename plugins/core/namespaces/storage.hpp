// The storage of namespaces/finalize.
//
// Thread-safety: any executor.
// Lifetime:      keeps the store it is made from.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::core {

// The storage supports only PUT, neither GET nor PATCH.
std::shared_ptr<RestStorage> make_finalize_storage(std::shared_ptr<SubresourceStorage> subresource);

}  // namespace backplane::core

// Storages of namespaces that differ from the ordinary ones.
//
// Thread-safety: any executor.
// Lifetime:      keep the store they are made from.
#pragma once

#include <memory>

#include "backplane/rest.hpp"

namespace backplane::core {

// Namespaces without deletecollection: nobody deletes them all at once.
std::shared_ptr<RestStorage> make_namespace_storage(std::shared_ptr<StandardStorage> store);
// PUT only: neither get nor patch.
std::shared_ptr<RestStorage> make_finalize_storage(std::shared_ptr<RestStorage> subresource);

}  // namespace backplane::core

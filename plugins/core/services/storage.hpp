// The services' store with allocation of cluster addresses and node ports around its writes.
//
// Thread-safety: any executor.
// Lifetime:      keeps the store.
// Errors:        as the store; and 422 for addresses and ports that cannot be had.
#pragma once

#include <memory>

#include "backplane/rest.hpp"
#include "services/allocator.hpp"

namespace backplane::core {

std::shared_ptr<RestStorage> make_service_storage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Strategy> strategy,
                                                  std::shared_ptr<ServiceAllocator> allocator);

}  // namespace backplane::core

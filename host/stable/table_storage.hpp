// Adapts a storage backend of the stable tier to StorageBackend: each call runs on a thread of the store, and has a deadline.
//
// Thread-safety: open_table_storage() may be called on any thread, and may block it. The result: as StorageBackend.
// Lifetime:      the plugin and the executor of the connections outlive the result. A call of the plugin that has not returned when the
//                StorageBackend is destroyed keeps its thread.
//                the StorageBackend keeps its thread.
// Errors:        those of the plugin; kTimeout after a deadline; kServiceUnavailable after stop(); kInternalError for results that violate
//                the contract.
#pragma once

#include <chrono>
#include <memory>

#include "backplane/points/storage.hpp"
#include "stable/opened_store.hpp"

namespace backplane::stable {

// How long the host waits for the functions of a store. health() has its own limit.
struct StoreLimits {
  std::chrono::milliseconds call{30'000};
  std::chrono::milliseconds upkeep{600'000};  // compact(), raise_revision()
  std::chrono::milliseconds stop{7'000};      // for running calls, and then for close()
};

// Calls open() of the plugin.
Result<std::unique_ptr<StorageBackend>> open_table_storage(const StorageProvider& provider, const StorageBackendConfig& config,
                                                           StoreLimits limits = {});

}  // namespace backplane::stable

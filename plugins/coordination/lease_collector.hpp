// Removes expired identity leases of servers (upstream: start-kube-apiserver-identity-lease-garbage-collector).
//
// Thread-safety: one executor.
// Lifetime:      run() ends when the stop signal fires; it keeps its client.
// Errors:        failed reads and removals are logged and retried in the next pass.
#pragma once

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::coordination {

// Returns true if the lease has not been renewed for its duration. A lease without a duration or a time has expired. `now`: seconds since
// the epoch.
bool is_expired(const Object& lease, std::int64_t now);

// Runs a pass now and every hour.
Task<void> collect_leases(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

}  // namespace backplane::coordination

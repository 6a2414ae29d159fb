// Removes the identity leases of servers that have not renewed theirs (upstream: start-kube-apiserver-identity-lease-garbage-collector).
//
// Thread-safety: one executor.
// Lifetime:      run() ends when the stop signal fires; it keeps its client.
// Errors:        what cannot be read or removed is logged and tried again at the next pass.
#pragma once

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::coordination {

// Whether nobody has renewed the lease for as long as it says, in seconds after 1970; one that does not say has.
bool is_expired(const Object& lease, std::int64_t now);

// A pass now, and another every hour.
Task<void> collect_leases(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger);

}  // namespace backplane::coordination

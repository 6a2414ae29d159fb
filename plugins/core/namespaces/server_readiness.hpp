// Waits until /readyz of this server succeeds.
//
// Thread-safety: one executor.
#pragma once

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::core {

// Also returns when `stop` fires or `stopped` becomes true.
Task<void> wait_until_ready(ApiClient& client, Signal& stop, const bool& stopped);

}  // namespace backplane::core

// --max-connection-bytes-per-sec: a client whose upgraded calls (exec, attach, portforward, WebSockets through a proxy) carry at most this
// many bytes per second in each direction. As upstream, other calls are not limited.
//
// Thread-safety: as the wrapped client.
// Lifetime:      owns the wrapped client; after the end of a call, a read that waits for the rate ends up to a piece's time (a tenth of a
//                second) later.
// Source:        k8s.io/apimachinery pkg/util/proxy (UpgradeAwareHandler.MaxBytesPerSec).
#pragma once

#include <cstdint>
#include <memory>

#include "backplane/net/client.hpp"

namespace backplane::core {

// Returns the client unchanged if `bytes_per_second` is 0 or less.
std::shared_ptr<HttpClient> throttled(std::shared_ptr<HttpClient> client, std::int64_t bytes_per_second);

}  // namespace backplane::core

// --max-connection-bytes-per-sec: a client whose upgraded calls (exec, attach, portforward, WebSockets through a proxy) carry no more than
// so many bytes per second in each direction.  Other calls are as fast as their reader, as upstream.
//
// Thread-safety: as the client behind it.
// Lifetime:      owns the client behind it; a read in progress delays the end of its call by a tenth of a second.
// Source:        k8s.io/apimachinery pkg/util/proxy (UpgradeAwareHandler.MaxBytesPerSec).
#pragma once

#include <cstdint>
#include <memory>

#include "backplane/net/client.hpp"

namespace backplane::core {

// `bytes_per_second` 0 or less: the client itself.
std::shared_ptr<HttpClient> throttled(std::shared_ptr<HttpClient> client, std::int64_t bytes_per_second);

}  // namespace backplane::core

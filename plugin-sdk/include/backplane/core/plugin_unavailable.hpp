// The reason of errors for requests that need a plugin that is not running. It is not a constant of metav1.StatusReason; clients that do
// not know it use the status code, which is 503.
//
// Thread-safety: a constant.
#pragma once

#include "backplane/core/status.hpp"

namespace backplane {

inline constexpr Reason kPluginUnavailable = static_cast<Reason>(static_cast<unsigned char>(Reason::kServiceUnavailable) + 1);

}  // namespace backplane

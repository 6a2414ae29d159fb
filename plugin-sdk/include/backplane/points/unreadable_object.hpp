// Objects whose stored value cannot be read: damage, a key of its encryption that is gone, a version that nothing converts from.
// Reads of such an object give a Status of 500 that says so; its key can be removed (ignoreStoreReadErrorWithClusterBreakingPotential)
// or written anew past the server.  Trying again does not help.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// What the messages begin with, without and with the gate AllowUnsafeMalformedObjectDeletion.
inline constexpr std::string_view kUnreadableKey = "unable to transform key";
inline constexpr std::string_view kCorruptObject = "StorageError: corrupt object";

inline bool is_unreadable(const Status& status) {
  return status.code() == 500 &&
         (status.message().find(kUnreadableKey) != std::string::npos || status.message().find(kCorruptObject) != std::string::npos);
}

}  // namespace BACKPLANE_API

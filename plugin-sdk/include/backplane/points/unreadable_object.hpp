// Recognizes errors about a stored object that cannot be read: corrupt data, a missing encryption key, a version without a conversion. A
// read of such an object gets 500. Retrying does not help. The object can be deleted with ignoreStoreReadErrorWithClusterBreakingPotential,
// or overwritten in the store.
//
// Thread-safety: pure functions.
// Source:        storage.NewCorruptObjError and etcd3's ValueTransformer errors.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Parts of the messages: kUnreadableKey with the gate AllowUnsafeMalformedObjectDeletion disabled, kCorruptObject with the gate enabled.
inline constexpr std::string_view kUnreadableKey = "unable to transform key";
inline constexpr std::string_view kCorruptObject = "StorageError: corrupt object";

// True if `status` is such an error of this server or of another API server.
inline bool is_unreadable(const Status& status) {
  return status.code() == 500 &&
         (status.message().find(kUnreadableKey) != std::string::npos || status.message().find(kCorruptObject) != std::string::npos);
}

}  // namespace BACKPLANE_API

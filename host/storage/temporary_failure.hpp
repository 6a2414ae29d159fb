// Distinguishes the reasons why an object is unreadable: its bytes or its key are lost, or the key service cannot be reached at the moment.
//
// Thread-safety: pure functions.
// Source:        errors of gRPC (google.rpc.Code), as they appear in the messages of storage transformers.
#pragma once

#include "backplane/core/status.hpp"

namespace backplane {

// `why`: KeyValue::unreadable. True: the object is readable as soon as the key service is available again.
bool is_temporary_failure(const Status& why);

}  // namespace backplane

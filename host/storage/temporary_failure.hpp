// Distinguishes two reasons why an object is unreadable: its bytes or its encryption key are lost, or the key service is temporarily
// unavailable.
//
// Thread-safety: pure functions.
// Source:        the texts of gRPC errors (google.rpc.Code), which storage transformers return.
#pragma once

#include "backplane/core/status.hpp"

namespace backplane {

// `why`: the value of KeyValue::unreadable. True: the object becomes readable when the key service is available again.
bool is_temporary_failure(const Status& why);

}  // namespace backplane

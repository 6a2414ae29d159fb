// The common parts of unary calls and streams.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// Returns a call without a body, which the caller adds.
HttpCall call_of(std::string&& method, CallOptions&& options);

}  // namespace backplane::grpc

// The common parts of unary calls and streams.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// A call without a body; the caller adds it.
HttpCall call_of(std::string&& method, CallOptions&& options);

}  // namespace backplane::grpc

// What unary calls and streams have in common.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// A call without a body yet.
HttpCall call_of(std::string method, CallOptions options);

}  // namespace backplane::grpc

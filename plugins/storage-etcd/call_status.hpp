// The status of a call to etcd: the SDK's gRPC codes.
//
// Thread-safety: values.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::etcd {

using grpc::CallStatus;
using grpc::Code;

}  // namespace backplane::etcd

// How a call to etcd has ended: the SDK's codes of gRPC.
//
// Thread-safety: values.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::etcd {

using grpc::CallStatus;
using grpc::Code;

}  // namespace backplane::etcd

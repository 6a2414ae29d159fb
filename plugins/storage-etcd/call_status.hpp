// The SDK's types for the status of a gRPC call, in the namespace of this plugin.
//
// Thread-safety: values.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::etcd {

using grpc::CallStatus;
using grpc::Code;

}  // namespace backplane::etcd

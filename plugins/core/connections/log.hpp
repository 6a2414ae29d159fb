// pods/log: the log of a container, from the kubelet of its node.
//
// Thread-safety: any executor.
// Errors:        upstream's: 400 for a container that is missing or ambiguous, 422 for invalid options. An error response of the kubelet
//                becomes a Status.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "connections/kubelets.hpp"

namespace backplane::core {

// `streams`: the gate PodLogsQuerySplitStreams.
std::shared_ptr<RestStorage> make_pod_log(std::shared_ptr<StandardStorage> pods, std::shared_ptr<const Kubelets> kubelets, bool streams);

}  // namespace backplane::core

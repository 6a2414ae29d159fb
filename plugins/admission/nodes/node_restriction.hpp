// The admission plugin NodeRestriction: a kubelet may only write the objects of its node and of the pods that are bound to it.
//
// Off by default. Other users are not restricted.
// Thread-safety: any thread.
// Lifetime:      `services` and `authorizer` outlive the plugin.
// Source:        kubernetes plugin/pkg/admission/noderestriction.
#pragma once

#include <memory>

#include "backplane/points/authorization.hpp"
#include "common/services.hpp"

namespace backplane::admission::nodes {

std::shared_ptr<AdmissionPlugin> node_restriction(Services& services, Authorizer& authorizer);

}  // namespace backplane::admission::nodes

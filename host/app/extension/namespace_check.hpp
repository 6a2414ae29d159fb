// NamespaceLifecycle of a runner: creates are refused in namespaces that the outer server does not have or is deleting; updates in
// namespaces that it does not have.
//
// Thread-safety: as AdmissionPlugin.
// Lifetime:      shared; keeps client and informer.
// Errors:        404 and 403 with upstream's texts; 500 if the outer server cannot be asked.
// Source:        k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/admission.hpp"

namespace backplane {

// `namespaces`: of the outer server; a namespace that the informer does not have yet is read from `outer`.
std::shared_ptr<AdmissionPlugin> make_namespace_check(std::shared_ptr<SharedInformer> namespaces, std::shared_ptr<ApiClient> outer);

}  // namespace backplane

// The admission plugin NamespaceLifecycle of a runner. It refuses creates in namespaces that the outer server is deleting, and creates and
// updates in namespaces that the outer server does not have.
//
// Thread-safety: as AdmissionPlugin.
// Lifetime:      shared; shares the client and the informer.
// Errors:        404 of the outer server: the namespace does not exist.
//                403 with upstream's text: the namespace is being deleted.
//                500: the request to the outer server has failed.
// Source:        k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/admission.hpp"

namespace backplane {

// `namespaces`: the informer of the outer server's namespaces. A namespace that the informer does not have yet is read from `outer`.
std::shared_ptr<AdmissionPlugin> make_namespace_check(std::shared_ptr<SharedInformer> namespaces, std::shared_ptr<ApiClient> outer);

}  // namespace backplane

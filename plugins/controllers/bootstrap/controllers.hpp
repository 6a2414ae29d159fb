// Controllers of bootstrap tokens: Secrets of type bootstrap.kubernetes.io/token in kube-system.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
// Source:        k8s.io/kubernetes/pkg/controller/bootstrap.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Signs the ConfigMap kube-public/cluster-info with each token that may sign.
Status start_bootstrap_signer(const Context& context);
// Deletes expired tokens.
Status start_token_cleaner(const Context& context);

}  // namespace backplane::controllers

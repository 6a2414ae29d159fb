// Controllers of service accounts.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        a start fails if a flag's file cannot be read.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Creates the ServiceAccount `default` in every active namespace. Source: k8s.io/kubernetes/pkg/controller/serviceaccount.
Status start_service_accounts(const Context& context);
// Publishes the certificate authority of read_root_ca() as the ConfigMap kube-root-ca.crt in every namespace.
// Source: k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher.
Status start_root_ca_publisher(const Context& context);
// Fills Secrets of type kubernetes.io/service-account-token, and deletes those of deleted service accounts. Removes references to deleted
// Secrets from service accounts. Does nothing if there is no key to sign tokens. Source: k8s.io/kubernetes/pkg/controller/serviceaccount
// (tokens_controller.go).
Status start_token_secrets(const Context& context);
// Marks generated token Secrets that have not been used for a year as invalid, and deletes them a year later.
// Source: k8s.io/kubernetes/pkg/controller/serviceaccount (legacy_serviceaccount_token_cleaner.go).
Status start_legacy_token_cleaner(const Context& context);

// Returns the content of --root-ca-file; if that flag is empty, the certificate authority that the server has generated.
Result<std::string> read_root_ca(const Host& host);

}  // namespace backplane::controllers

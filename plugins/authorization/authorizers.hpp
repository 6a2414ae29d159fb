// The authorizers of this plugin: Node, ABAC and Webhook, as the flags --authorization-* configure them.
//
// Thread-safety: provision_authorizers() is called in Plugin::provision().
// Lifetime:      the registered authorizers live as long as the server.
// Errors:        those of the files that the flags name.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::authorization {

// `schemas`: those of authorization.k8s.io/v1.
Status provision_authorizers(Host& host, std::shared_ptr<const SchemaSet> schemas);

}  // namespace backplane::authorization

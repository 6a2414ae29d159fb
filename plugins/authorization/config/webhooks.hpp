// Makes WebhookAuthorizers from their configuration.
//
// Thread-safety: make() from any thread; it reads a kubeconfig, so it may block.
// Errors:        kBadRequest; the message names the kubeconfig and the field.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/schema.hpp"
#include "config/configuration.hpp"

namespace backplane::authorization {

class WebhookFactory {
 public:
  // `schemas`: those of authorization.k8s.io/v1. The host outlives the factory.
  WebhookFactory(Host& host, std::shared_ptr<const SchemaSet> schemas) : host_(host), schemas_(std::move(schemas)) {}
  Result<std::shared_ptr<Authorizer>> make(const std::string& name, const WebhookConfig& config) const;
  // Returns the authorizers of a configuration, in its order. For types other than Webhook, uses the authorizers that are registered with
  // the host.
  Result<std::vector<AuthorizerPlace>> places(const AuthorizationConfig& config) const;

 private:
  Host& host_;
  const std::shared_ptr<const SchemaSet> schemas_;
};

// Returns the configuration of the webhook that the flags --authorization-webhook-* describe. Errors: an unsupported version.
Result<WebhookConfig> webhook_of_flags(const Host& host);

}  // namespace backplane::authorization

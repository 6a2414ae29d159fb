// Makes the authenticators that the flags configure for tokens of OpenID issuers, for the token webhook, and for requests without
// credentials.
//
// Thread-safety: make() and start() at startup, on one thread.
// Lifetime:      the results are shared with the host.
// Errors:        kBadRequest for an invalid configuration: startup fails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anonymous.hpp"
#include "backplane/types/schema.hpp"
#include "oidc/jwt_controller.hpp"
#include "tokens/token_union.hpp"
#include "webhook/token_webhook.hpp"

namespace backplane::authentication {

class StructuredAuthentication {
 public:
  // `schemas`: those of the group authentication.k8s.io. `api_audiences`: the audiences of this server.
  static Result<StructuredAuthentication> make(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas,
                                               const std::vector<std::string>& api_audiences);

  // Returns the sources of tokens in upstream's order; empty if none is configured. They follow all other sources of bearer tokens.
  std::vector<TokenUnion::Entry> token_sources() const;
  // Returns the authenticator that must be registered after all others; null if the configuration does not restrict requests without
  // credentials.
  std::shared_ptr<Authenticator> anonymous() const { return anonymous_; }
  // Starts to read discovery documents and to watch the configuration.
  void start() const { jwt_->start(); }
  bool has_issuers() const { return !jwt_->authenticators()->issuers()->empty(); }
  // JwtController::wait_for_start()
  Task<Status> wait_for_start() const { return jwt_->wait_for_start(); }

 private:
  std::shared_ptr<JwtController> jwt_;
  std::shared_ptr<TokenWebhook> webhook_;  // null: not configured
  std::shared_ptr<AnonymousAuthenticator> anonymous_;
};

}  // namespace backplane::authentication

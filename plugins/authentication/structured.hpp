// Structured authentication: tokens of OpenID issuers and of the token webhook, and requests without credentials, as the flags configure
// them.
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
  // `schemas`: of the group authentication.k8s.io. `api_audiences`: of this server.
  static Result<StructuredAuthentication> make(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas,
                                               const std::vector<std::string>& api_audiences);

  // The last sources of bearer tokens, in upstream's order; empty if none is configured.
  std::vector<TokenUnion::Entry> token_sources() const;
  // To be registered after all others; null if the configuration does not restrict requests without credentials.
  std::shared_ptr<Authenticator> anonymous() const { return anonymous_; }
  // Starts to read discovery documents and to watch the configuration.
  void start() const { jwt_->start(); }

 private:
  std::shared_ptr<JwtController> jwt_;
  std::shared_ptr<TokenWebhook> webhook_;  // null: not configured
  std::shared_ptr<AnonymousAuthenticator> anonymous_;
};

}  // namespace backplane::authentication

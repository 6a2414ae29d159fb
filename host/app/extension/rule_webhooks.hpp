// The admission rules of plugins as webhooks: each rule and step has a path and is registered as one webhook.
//
// Thread-safety: publish() by one thread at a time; everything else from any executor.
// Lifetime:      shared by the routes.
// Errors:        make(): a rule without resources, if --webhook-resources is not set.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/admission_chain.hpp"
#include "app/extension/registration.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/paths.hpp"

namespace backplane {

class RuleWebhooks {
 public:
  // `rules`: of the plugins that are served. `resources`: --webhook-resources.
  static Result<std::shared_ptr<RuleWebhooks>> make(const AdmissionChain::Plugins& rules, const std::vector<std::string>& resources);

  // The plugins of the server, after a change of one; reviews for a rule that no longer exists get 503.
  void publish(const AdmissionChain::Plugins& plugins);
  const std::vector<WebhookRule>& rules() const noexcept { return rules_; }
  std::vector<PathRoute> routes() const;

 private:
  std::vector<WebhookRule> rules_;
  std::map<std::string, std::shared_ptr<AdmissionChain>, std::less<>> chains_;  // each has one plugin
};

}  // namespace backplane

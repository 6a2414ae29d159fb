// Serves the admission rules of plugins as webhooks. Each rule has one path and one registered webhook for its mutating step, and another
// path and webhook for its validating step.
//
// Thread-safety: publish() by one thread at a time; everything else from any executor.
// Lifetime:      shared; the handlers of the routes may outlive it.
// Errors:        make(): kBadRequest if a rule names no resources and --webhook-resources is not set, or if there are no rules.
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
  // `rules`: the admission plugins to serve. `resources`: --webhook-resources.
  static Result<std::shared_ptr<RuleWebhooks>> make(const AdmissionChain::Plugins& rules, const std::vector<std::string>& resources);

  // `plugins`: all admission plugins of the server, after one of them has changed. Reviews for a rule that no longer exists get 503.
  void publish(const AdmissionChain::Plugins& plugins);
  const std::vector<WebhookRule>& rules() const noexcept { return rules_; }
  std::vector<PathRoute> routes() const;

 private:
  std::vector<WebhookRule> rules_;
  // by rule; each has one plugin, or none if the rule no longer exists
  std::map<std::string, std::shared_ptr<AdmissionChain>, std::less<>> chains_;
};

}  // namespace backplane

// The conversion webhook of a definition: its address and versions, and the validation of its settings.
//
// Thread-safety: pure functions; a config is a value.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane::apiextensions {

struct WebhookConfig {
  std::string definition;  // the name of the definition
  WebhookTarget target;
  std::string authorities;                   // CA certificates in PEM; empty: those of the system
  std::vector<std::string> review_versions;  // in the definition's order of preference
};

// True if spec.conversion.strategy is Webhook.
bool converts_by_webhook(const Object& crd);
// The settings of spec.conversion.webhook.
WebhookConfig webhook_config(const Object& crd);

// Adds the problems of spec.conversion if its strategy is Webhook. `old`: the old definition, or null; unknown review versions of the old
// definition remain allowed. `any_authorities`: the content of caBundle is not validated.
void check_conversion_webhook(const Object& conversion, const Object* old, bool any_authorities, FieldErrors& errors);
// Whether the definition has an invalid caBundle.
bool has_bad_authorities(const Object& crd);
// Whether the new definition may have an invalid caBundle: `old` is null, is not established, or has an invalid caBundle, too.
bool may_have_any_authorities(const Object* old);

}  // namespace backplane::apiextensions

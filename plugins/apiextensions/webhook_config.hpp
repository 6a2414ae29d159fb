// The conversion webhook of a definition: how it is reached, and the validation of its settings.
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
  std::string authorities;                   // PEM; empty: the system's
  std::vector<std::string> review_versions;  // as the definition prefers them
};

// spec.conversion.strategy is Webhook.
bool converts_by_webhook(const Object& crd);
// The settings of spec.conversion.webhook.
WebhookConfig webhook_config(const Object& crd);

// Problems of spec.conversion when its strategy is Webhook.  `old`: the old definition, or null: versions that are not known
// may stay as they were.  `any_authorities`: the content of caBundle is not validated.
void check_conversion_webhook(const Object& conversion, const Object* old, bool any_authorities, FieldErrors& errors);
// Whether the definition has a caBundle that is none.
bool has_bad_authorities(const Object& crd);
// Whether the definition, as it is, may have a caBundle that is none: one that is not established, or had such a one.
bool may_have_any_authorities(const Object* old);

}  // namespace backplane::apiextensions

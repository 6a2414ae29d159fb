// The plugin's configuration: resources that may only be consumed in namespaces with a quota that covers them.
//
// Thread-safety: values.
// Errors:        text that is not a Configuration of a known version; an entry without a resource.
// Source:        k8s.io/apiserver/pkg/admission/plugin/resourcequota/{config.go,apis}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "quota/scopes.hpp"

namespace backplane::admission::quota {

struct LimitedResource {
  GroupResource resource;
  std::vector<std::string> match_contains;
  ScopeSelectors match_scopes;
};
using LimitedResources = std::vector<LimitedResource>;

// `text`: the configuration object as JSON; empty: nothing is limited.
Result<LimitedResources> parse_limits(std::string_view text);

}  // namespace backplane::admission::quota

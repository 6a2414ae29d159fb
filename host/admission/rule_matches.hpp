// A role of admission plugins. It returns the resources for which the plugin is called. A webhook configuration for the plugin is generated
// from them.
//
// Thread-safety: any thread.
// Lifetime:      exists as long as the plugin.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// A rule. "*" matches all values. An empty subresource means the resource itself.
struct RuleMatch {
  std::string group, version, resource, subresource;
};

class RuleMatches {
 public:
  virtual ~RuleMatches() = default;
  // Returns the rules. If there are none, the plugin does not declare its resources, and those of --webhook-resources are used.
  virtual const std::vector<RuleMatch>& matches() const noexcept = 0;
};

}  // namespace backplane

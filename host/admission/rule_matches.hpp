// A role of admission plugins: the resources that the plugin is called for. A webhook configuration for the plugin is made from them.
//
// Thread-safety: any thread.
// Lifetime:      of the plugin.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// "*" matches all. An empty subresource is the resource itself.
struct RuleMatch {
  std::string group, version, resource, subresource;
};

class RuleMatches {
 public:
  virtual ~RuleMatches() = default;
  // Empty: the plugin does not declare its resources; those of --webhook-resources apply.
  virtual const std::vector<RuleMatch>& matches() const noexcept = 0;
};

}  // namespace backplane

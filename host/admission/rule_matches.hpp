// A role of admission plugins: the resources that the plugin is called for, for those who register it as a webhook.
//
// Thread-safety: any thread.
// Lifetime:      of the plugin.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// "*" stands for all. An empty subresource is the resource itself.
struct RuleMatch {
  std::string group, version, resource, subresource;
};

class RuleMatches {
 public:
  virtual ~RuleMatches() = default;
  // Empty: the plugin does not say.
  virtual const std::vector<RuleMatch>& matches() const noexcept = 0;
};

}  // namespace backplane

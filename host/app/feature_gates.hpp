// The feature gates of Kubernetes v1.36: names, defaults, and what --feature-gates makes of them.
//
// Thread-safety: set() on one thread at start-up; enabled() from any thread afterwards.
// Errors:        unknown names and values that are no booleans, all of them at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

class FeatureGates {
 public:
  FeatureGates();
  // "Name=bool", perhaps with "kube:" in front.  Returns the problems, worded as upstream.
  std::vector<std::string> set(const std::vector<std::string>& items);
  bool enabled(std::string_view name) const;
  const std::map<std::string, bool, std::less<>>& all() const noexcept { return on_; }

 private:
  void set_stage(std::string_view all, bool on);
  std::map<std::string, bool, std::less<>> on_;
};

}  // namespace backplane

// Plugin objects: the group plugins.backplane.dev/v1alpha1, which the host itself serves.  One object for each plugin that was found,
// whether it runs or not; clients get, list and watch them.  As every alpha version it is served if --runtime-config enables it.
//
// Thread-safety: update() by one thread at a time; clients on any thread.
// Lifetime:      the delegation target shares the objects.
// Errors:        make(): the document of types cannot be read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/computed_objects.hpp"
#include "app/hooks.hpp"
#include "plugin/plugin_status.hpp"
#include "routing/delegation.hpp"

namespace backplane {

inline constexpr std::string_view kPluginsGroup = "plugins.backplane.dev";
inline constexpr std::string_view kPluginsVersion = "v1alpha1";

class PluginObjects {
 public:
  // `registrant` becomes the name of target().
  static Result<PluginObjects> make(std::string registrant);
  PluginObjects() = default;

  const TargetRef& target() const noexcept { return target_; }
  // Publishes the state of the plugins. Call it after each change of them.
  void update(const std::vector<PluginStatus>& plugins, const std::function<HookProgress(const std::string& plugin)>& hooks);

 private:
  struct ObjectIdentity {
    std::string uid, time;
  };
  std::shared_ptr<ComputedObjects> objects_;
  TargetRef target_;
  std::map<std::string, ObjectIdentity> identities_;  // by the object's name
};

// "acme.io/widgets" → "widgets.acme.io"; characters that names cannot have become '-'.
std::string plugin_object_name(std::string_view plugin);

}  // namespace backplane

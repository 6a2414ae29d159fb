// The lifecycle calls of a plugin, fenced, and the start of all plugins of a plan.
//
// Thread-safety: one thread.
// Lifetime:      borrows the registry.
#pragma once

#include <string>
#include <string_view>

#include "plugin/plugin_registry.hpp"

namespace backplane {

// configure(), provision(), validate().
struct LifecycleCall {
  const char *name, *shown;
  std::string_view failed, threw;  // codes
};
extern const LifecycleCall kConfigure, kProvision, kValidate;

// A call runs on `thread`, for at most `limit`. With kNoLimit it runs on the caller's thread.
struct CallLimits {
  CallThread& thread;
  std::chrono::nanoseconds limit;
};
inline constexpr std::chrono::nanoseconds kNoLimit{0};

// Makes the call and adds its errors to `findings`. Returns true if there was none. A call that has not returned in time keeps its
// generation alive.
bool call_lifecycle(const GenerationRef& generation, const LifecycleCall& what, HostServices& services, const CallLimits& limits,
                    Findings& findings);
// The finding of a call that has not returned in time.
Finding timed_out(std::string_view field, std::string_view call, std::chrono::nanoseconds limit);

// Takes a plan through the lifecycle. A step that fails removes plugins from the plan and starts again with the remaining ones.
class PluginStart {
 public:
  explicit PluginStart(PluginRegistry& registry) : registry_(registry), plan_(registry.plan_) {}
  // Starts the plugins and commits their generations, which the registry then has. If a required plugin fails, plan_.fatal has the reason.
  void run();

 private:
  bool start_next();
  bool start(std::size_t i);
  CallLimits limits_of(const PlannedPlugin& plugin);
  bool validate_next();
  void take_out(std::size_t i);
  bool merges();

  PluginRegistry& registry_;
  Plan& plan_;
  std::map<std::size_t, GenerationRef> running_;  // by index in the plan
  std::map<std::size_t, bool> validated_;
  std::vector<std::size_t> started_;  // in the order of their start
};

}  // namespace backplane

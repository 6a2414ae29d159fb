// A plugin: one object the host makes, configures, provisions and asks to validate itself, in this order, on one thread.
//
//   #include <backplane/plugin.hpp>
//   class Hello final : public backplane::Plugin { … };
//   BACKPLANE_PLUGIN(Hello)
//
// Thread-safety: the calls below come one after another; what the plugin registers is used from every thread.
// Lifetime:      destroyed after everything it registered has been dropped and every task it spawned has ended.
// Errors:        a Status or an exception from any call takes this plugin out of the plan and rolls its registrations back.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/host.hpp"

namespace backplane BACKPLANE_API {

class Plugin {
 public:
  virtual ~Plugin();
  // The plugin's section of the configuration as JSON; empty when there is none.
  virtual Status configure(std::string_view config);
  // Registers groups, handlers, hooks.  Nothing of it is visible to anybody yet.
  virtual Status provision(Host& host) = 0;
  // Last word before everything is committed at once.
  virtual Status validate();
};

}  // namespace BACKPLANE_API

// The one entry point.  The host calls it after the descriptor's stamp has been found to match.
#define BACKPLANE_PLUGIN(Type) \
  extern "C" __attribute__((visibility("default"))) ::backplane::Plugin* backplane_plugin_create() { return new Type(); }

// A plugin: one object that the host creates, configures, provisions and validates, in this order, on one thread.
//
//   #include <backplane/plugin.hpp>
//   class Hello final : public backplane::Plugin { … };
//   BACKPLANE_PLUGIN(Hello)
//
// Thread-safety: the host calls the functions below one after another. Registered objects are used on any thread.
// Lifetime:      the host destroys the plugin after its registered objects have been released and its spawned tasks have ended.
// Errors:        if a call returns an error or throws, the host excludes this plugin and removes its registrations.
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
  // Receives the plugin's configuration as JSON. In this release it is always empty; use Host::flag() for flags of the host.
  virtual Status configure(std::string_view config);
  // Registers groups, handlers and hooks.  They take effect at the commit, after validate().
  virtual Status provision(Host& host) = 0;
  // Last check before the registrations of all plugins are committed together.
  virtual Status validate();
};

}  // namespace BACKPLANE_API

// The entry point.  The host calls it only if the descriptor's stamp matches.
#define BACKPLANE_PLUGIN(Type) \
  extern "C" __attribute__((visibility("default"))) ::backplane::Plugin* backplane_plugin_create() { return new Type(); }

// The log of one plugin. Host::logger() returns it; the host adds time, level and the plugin's name.
//
// Message format: the text first, then key=value pairs ("cache loaded resource=pods objects=120").
//
// Thread-safety: any thread. A call may block until the line is written to standard error.
// Errors:        none; a line that cannot be written is dropped. The caller must not log secrets.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The levels follow klog: error and warn are always shown, info at -v=0, debug from -v=2 on.
//
//   host.logger().warn("cannot renew the lease name=" + name + " error=" + quoted(status.message()));
class Logger {
 public:
  virtual ~Logger();
  virtual void error(std::string_view text) = 0;  // an operator must act
  virtual void warn(std::string_view text) = 0;   // the service is degraded and repairs itself
  virtual void info(std::string_view text) = 0;   // start, stop and configuration changes
  virtual void debug(std::string_view text) = 0;  // one decision per line
};

}  // namespace BACKPLANE_API

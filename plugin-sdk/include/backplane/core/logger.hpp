// Logging for plugins: words first, then key=value.
//
// Thread-safety: any thread.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Logger {
 public:
  virtual ~Logger();
  virtual void error(std::string_view text) = 0;  // a person must act
  virtual void warn(std::string_view text) = 0;   // service is worse
  virtual void info(std::string_view text) = 0;   // lifecycle
  virtual void debug(std::string_view text) = 0;  // one decision per line
};

}  // namespace BACKPLANE_API

// The text of an exception, for a catch block that converts any exception into a Status or a log line.
//
// Thread-safety: any thread.
// Errors:        none: an exception that is not a std::exception has a fixed text.
#pragma once

#include <exception>
#include <string>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// what() of the exception that is being handled. Call it inside a catch block.
//
//   } catch (...) {
//     return internal_error(exception_text());
//   }
inline std::string exception_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace BACKPLANE_API

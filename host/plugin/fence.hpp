// The fence around every call into a plugin: whatever it throws becomes a value.
//
// Thread-safety: a function of its arguments.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "backplane/core/status.hpp"

namespace backplane {

struct FencedCall {
  Status status;
  bool threw = false;
};

// Calls `function`, which gives a Status.  An exception becomes kInternalError with its text, and `threw` is set.
template <class Function>
FencedCall fenced(Function&& function) {
  try {
    return {std::forward<Function>(function)(), false};
  } catch (const std::exception& error) {
    return {Status(Reason::kInternalError, error.what()), true};
  } catch (...) {
    return {Status(Reason::kInternalError, "an exception that is not a std::exception"), true};
  }
}

}  // namespace backplane

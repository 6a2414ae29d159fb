// The message of a Status for a log or a terminal: without upstream's prefix "Internal error occurred: " and without newlines at the end.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

inline std::string_view plain_message(std::string_view message) noexcept {
  constexpr std::string_view kInternal = "Internal error occurred: ";
  if (message.starts_with(kInternal)) message.remove_prefix(kInternal.size());
  while (message.ends_with('\n')) message.remove_suffix(1);
  return message;
}
inline std::string_view plain_message(const Status& status) noexcept { return plain_message(status.message()); }

}  // namespace backplane

#include "backplane/types/durations.hpp"

#include <string>

#include "text/go_time.hpp"

namespace backplane BACKPLANE_API {

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::string error;
  const auto nanoseconds = schema::parse_go_duration(text, error);
  if (!nanoseconds) return std::nullopt;
  return std::chrono::nanoseconds(*nanoseconds);
}

}  // namespace BACKPLANE_API

#include "backplane/kit/durations.hpp"

#include <string>

#include "schema/go_time.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::string error;
  const auto nanoseconds = schema::parse_go_duration(text, error);
  if (!nanoseconds) return std::nullopt;
  return std::chrono::nanoseconds(*nanoseconds);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

#include "backplane/core/bytes.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {

SharedBytes SharedBytes::concat(std::span<const std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  auto owner = std::make_shared_for_overwrite<char[]>(size);
  char* at = owner.get();
  for (const std::string_view part : parts) at = std::copy(part.begin(), part.end(), at);
  const std::string_view all(owner.get(), size);
  return SharedBytes(std::move(owner), all);
}

}  // namespace BACKPLANE_API

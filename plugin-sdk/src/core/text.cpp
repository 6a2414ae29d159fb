#include "backplane/core/text.hpp"

namespace backplane BACKPLANE_API {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(parts[i]);
  }
  return out;
}

}  // namespace BACKPLANE_API

// The values of a list flag, from the text that the host returns.
//
// Thread-safety: pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/host.hpp"

namespace backplane::authentication {

inline std::vector<std::string> flag_list(const Host& host, std::string_view name) {
  const std::string text = host.flag(name).value_or("");
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace backplane::authentication

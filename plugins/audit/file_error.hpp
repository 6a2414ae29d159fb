// Errors of files as Go prints them: "open /a/b: permission denied".
#pragma once

#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

namespace backplane::audit {

inline std::string file_error(std::string_view call, std::string_view file, int code) {
  std::string why = std::strerror(code);
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return std::string(call).append(" ").append(file).append(": ").append(why);
}

}  // namespace backplane::audit

#include "backplane/types/ip_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace backplane BACKPLANE_API {
namespace {

bool read_address(int family, std::string_view text, unsigned char* out) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> copy{};  // no address is longer
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return false;
  std::copy(text.begin(), text.end(), copy.begin());
  return inet_pton(family, copy.data(), out) == 1;
}

}  // namespace

bool read_ipv4(std::string_view text, unsigned char* out) noexcept { return read_address(AF_INET, text, out); }
bool read_ipv6(std::string_view text, unsigned char* out) noexcept { return read_address(AF_INET6, text, out); }

}  // namespace BACKPLANE_API

#include "backplane/net/proxy.hpp"

namespace backplane BACKPLANE_API {
namespace {

// True for characters of a header name that need no escape: net/http's token characters except "%", which begins an escape.
bool is_plain(char c) {
  constexpr std::string_view kMarks = "!#$&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
}

std::string escaped(std::string_view key) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : key) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace

Headers identity_headers(const UserInfo& user) {
  Headers out;
  out.reserve(2 + user.groups.size() + user.extra.size());
  out.emplace_back("X-Remote-User", user.name);
  if (!user.uid.empty()) out.emplace_back("X-Remote-Uid", user.uid);
  for (const std::string& group : user.groups) out.emplace_back("X-Remote-Group", group);
  for (const auto& [key, values] : user.extra) {
    const std::string name = "X-Remote-Extra-" + escaped(key);
    for (const std::string& value : values) out.emplace_back(name, value);
  }
  return out;
}

}  // namespace BACKPLANE_API

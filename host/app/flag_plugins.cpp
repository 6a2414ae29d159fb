#include "app/flag_plugins.hpp"

#include <string_view>

namespace backplane {
namespace {

struct FlagPlugin {
  std::string_view flag, plugin;
};
constexpr FlagPlugin kFlagPlugins[] = {
    {"enable-bootstrap-token-auth", "authentication"},
    {"token-auth-file", "authentication"},
};

}  // namespace

std::vector<std::string> plugins_of_flags(const FlagSet& flags) {
  std::vector<std::string> out;
  for (const FlagPlugin& row : kFlagPlugins) {
    if (!flags.has_default(row.flag)) out.emplace_back(row.plugin);
  }
  return out;
}

}  // namespace backplane

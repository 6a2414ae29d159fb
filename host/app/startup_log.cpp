#include "app/startup_log.hpp"

#include <unistd.h>

#include "app/log.hpp"
#include "backplane/core/text.hpp"
#include "base/cpu_limit.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

// `value` with xxxxx for the password of each URL in it (https://user:password@host).
std::string without_passwords(std::string_view value) {
  std::string out;
  for (auto scheme = value.find("://"); scheme != std::string_view::npos; scheme = value.find("://")) {
    out.append(value.substr(0, scheme + 3));
    value.remove_prefix(scheme + 3);
    const std::string_view authority = value.substr(0, value.find_first_of("/?# \"]"));
    const auto host = authority.rfind('@');
    const auto colon = authority.substr(0, host).find(':');
    if (host == std::string_view::npos || colon == std::string_view::npos) continue;
    out.append(value.substr(0, colon + 1)).append("xxxxx");
    value.remove_prefix(host);
  }
  return out.append(value);
}

}  // namespace

void log_startup(const Options& options) {
  const auto quota = cpu_quota();
  const std::string_view version = options.version.starts_with('v') ? std::string_view(options.version) : kKubernetesVersion;
  app_log().info("Version: {} backplane={} commit={} cores={} quota={} pid={}", version, build_info().version, build_info().commit,
                 usable_cores(), quota ? std::to_string(*quota) : "none", getpid());
  std::vector<std::string> given;
  for (const auto& [name, value] : options.flags.texts()) {
    const std::string shown = "--" + name + "=" + backplane::quoted(without_passwords(value));
    app_details().info("FLAG: {}", shown);
    if (options.flags.changed(name)) given.push_back(shown);
  }
  if (!given.empty()) app_log().info("Flags: {}", joined(given, " "));
  for (const auto& line : options.flags.deprecations()) app_log().warn("{}", line);
  if (const auto ignored = options.flags.accepted_only(); !ignored.empty()) {
    app_log().warn("these flags have no effect in this version: {}", joined(ignored, " "));
  }
}

}  // namespace backplane

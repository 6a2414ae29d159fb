#include "app/accepted_values.hpp"

#include "routing/version.hpp"

namespace backplane {
namespace {

// `resource[.group]#size`.
void check_watch_cache_sizes(const FlagSet& flags, Problems& problems) {
  for (const auto& item : flags.values("watch-cache-sizes")) {
    const auto hash = item.find('#');
    if (hash == std::string::npos || hash == 0 || item.find('#', hash + 1) != std::string::npos) {
      problems.push_back("--watch-cache-sizes: invalid value of watch cache size: " + item);
      continue;
    }
    const std::string size = item.substr(hash + 1);
    const std::string_view digits = std::string_view(size).substr(size.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
      problems.push_back("--watch-cache-sizes: could not parse size of watch cache size: " + item);
    } else if (size.starts_with('-')) {
      problems.push_back("--watch-cache-sizes: watch cache size cannot be negative: " + item);
    }
  }
}

// Other versions than the one there is: their APIs, gates and fields are not served.
void check_emulation(const FlagSet& flags, Problems& problems) {
  for (const auto& item : flags.values("emulated-version")) {
    const std::string version = item.starts_with("kube=") ? item.substr(5) : item;
    if (version == kOpenApiVersion) continue;
    problems.push_back("--emulated-version " + quoted(item) + ": versions other than " + std::string(kOpenApiVersion) +
                       " are not emulated");
  }
  for (const std::string_view flag : {"emulation-forward-compatible", "runtime-config-emulation-forward-compatible"}) {
    if (flags.text(flag) != "true") continue;
    problems.push_back("--" + std::string(flag) + ": it takes an emulated version lower than " + std::string(kOpenApiVersion));
  }
  for (const auto& item : flags.values("min-compatibility-version")) {
    const std::string version = item.starts_with("kube=") ? item.substr(5) : item;
    if (version == "1.35" || version == kOpenApiVersion) continue;
    problems.push_back("--min-compatibility-version " + quoted(item) + " must be 1.35 or " + std::string(kOpenApiVersion));
  }
}

}  // namespace

void check_accepted_values(const FlagSet& flags, Problems& problems) {
  check_watch_cache_sizes(flags, problems);
  check_emulation(flags, problems);
}

}  // namespace backplane

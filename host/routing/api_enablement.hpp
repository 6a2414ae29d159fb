// Decides which group versions and resources are enabled: by the defaults, by `--runtime-config` and by the emulated release.
//
// Thread-safety: immutable after parse().
// Errors:        the error of parse() lists all invalid items. The error of check() lists the group versions and resources that exist.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/host.hpp"
#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

// --emulated-version, and the two flags that enable APIs which are newer than the emulated release.
struct EmulatedApis {
  ApiRelease release = kApiRelease;
  // A later version of a resource is enabled if an earlier version that is not alpha is enabled.
  bool forward_compatible = false;
  // A version or resource that --runtime-config names is enabled, even if it is newer than the emulated release.
  bool runtime_config_forward_compatible = false;
};

class ApiEnablement {
 public:
  // Parses "apps/v1=false,api/beta=true". A missing value means true. If a key occurs twice, the later item has precedence.
  // Legacy keys: v1 and api/v1 mean version v1 of the core group; api/legacy is ignored.
  // Errors: kBadRequest; the message names each invalid item. As upstream, api/all=false as the only item is an error.
  static Result<ApiEnablement> parse(std::string_view runtime_config, const EmulatedApis& emulated = {});

  // Unless set, GA versions are enabled, alpha and beta versions are disabled. A setting of the resource has precedence over one of its
  // version, then over api/ga, api/beta or api/alpha, then over api/all. The group plugins.backplane.dev is enabled only if its version is
  // set. Resources that the emulated release does not have are disabled.
  bool version_enabled(const GroupVersion& version) const;
  bool resource_enabled(const GroupVersionResource& resource) const;

  // Errors: kBadRequest if the configuration names a group, version or resource that no plugin has; the message lists those that exist. If
  // only the emulated release does not have it, the message is upstream's.
  Status check(const std::vector<GroupVersion>& known_versions, const std::vector<GroupVersionResource>& known_resources) const;

 private:
  bool configured(const GroupVersionResource& resource) const;
  bool named(const std::string& key) const;
  bool emulated(const GroupVersionResource& resource) const;
  bool earlier_version_enabled(const GroupVersionResource& resource) const;
  std::string too_new(const std::vector<GroupVersionResource>& known_resources) const;

  EmulatedApis emulated_;
  std::map<std::string, bool> items_;  // normalized key → value
};

}  // namespace backplane

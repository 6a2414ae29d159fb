#include <algorithm>
#include <array>

#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

// Members of a volume; each is the name of a volume type.
constexpr std::array<std::string_view, 9> kAllowedTypes = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"};
constexpr std::array<std::string_view, 21> kRestrictedTypes = {"hostPath",
                                                               "gcePersistentDisk",
                                                               "awsElasticBlockStore",
                                                               "gitRepo",
                                                               "nfs",
                                                               "iscsi",
                                                               "glusterfs",
                                                               "rbd",
                                                               "flexVolume",
                                                               "cinder",
                                                               "cephfs",
                                                               "flocker",
                                                               "fc",
                                                               "azureFile",
                                                               "vsphereVolume",
                                                               "quobyte",
                                                               "azureDisk",
                                                               "photonPersistentDisk",
                                                               "portworxVolume",
                                                               "scaleIO",
                                                               "storageos"};

std::string_view restricted_type(const Object& volume) {
  const auto* found =
      std::find_if(kRestrictedTypes.begin(), kRestrictedTypes.end(), [&](std::string_view type) { return has(volume, type); });
  return found != kRestrictedTypes.end() ? *found : "unknown";
}

}  // namespace

CheckResult restricted_volumes(const Object&, const Object& spec) {
  Names bad;
  NameSet types;
  each(spec, "volumes", [&](const Object& volume, std::size_t) {
    if (std::any_of(kAllowedTypes.begin(), kAllowedTypes.end(), [&](std::string_view type) { return has(volume, type); })) return;
    bad.push_back(name_of(volume));
    types.emplace(restricted_type(volume));
  });
  if (bad.empty()) return std::nullopt;
  return Finding{"restricted volume types",
                 pluralize("volume", "volumes", bad.size()) + " " + join_quoted(bad) + " " + pluralize("uses", "use", bad.size()) + " " +
                     pluralize("restricted volume type", "restricted volume types", types.size()) + " " + join_quoted(types)};
}

}  // namespace backplane::admission::podsecurity

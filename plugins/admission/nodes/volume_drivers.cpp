#include "nodes/volume_drivers.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "common/aggregate.hpp"

namespace backplane::admission::nodes {
namespace {

// Types of volumes that CSI drivers have taken over; the members are the same in pods and in PersistentVolumes.
struct MigratedVolume {
  std::string_view type, driver;
};
constexpr MigratedVolume kMigratedVolumes[] = {
    {"gcePersistentDisk", "pd.csi.storage.gke.io"},
    {"awsElasticBlockStore", "ebs.csi.aws.com"},
    {"cinder", "cinder.csi.openstack.org"},
    {"azureDisk", "disk.csi.azure.com"},
    {"azureFile", "file.csi.azure.com"},
    {"vsphereVolume", "csi.vsphere.vmware.com"},
    {"portworxVolume", "pxd.portworx.com"},
};

// The name of the driver; empty if the volume has none.
using Driver = Result<std::string>;

Driver migrated_driver(const Object& source) {
  for (const MigratedVolume& row : kMigratedVolumes) {
    const Object* members = get_object(source, row.type);
    if (members == nullptr) continue;
    const std::string kind(get_string(*members, "kind"));
    if (row.type == "azureDisk" && has(*members, "kind") && lower_case(kind) != "managed") {
      return bad_request("kind(" + kind + ") is not supported in csi migration");
    }
    return std::string(row.driver);
  }
  return std::string();
}

Driver claim_driver(const VolumeData& data, std::string_view ns, const std::string& name) {
  const auto claim = data.claims.find(ns, name);
  if (!claim) return data.claims.missing(name);
  const std::string_view volume_name = get_string_path(*claim, "spec.volumeName");
  const auto volume = data.volumes.find("", volume_name);
  if (!volume) return data.volumes.missing(volume_name);
  const Object& spec = object_or_empty(*volume, "spec");
  if (const Object* csi = get_object(spec, "csi")) return std::string(get_string(*csi, "driver"));
  return migrated_driver(spec);
}

Driver volume_driver(const VolumeData& data, const Object& pod, const Object& volume) {
  const std::string_view ns = meta_namespace(pod);
  if (has(object_or_empty(volume, "ephemeral"), "volumeClaimTemplate")) {
    return claim_driver(data, ns, std::string(meta_name(pod)) + "-" + std::string(get_string(volume, "name")));
  }
  if (const Object* claim = get_object(volume, "persistentVolumeClaim")) {
    return claim_driver(data, ns, std::string(get_string(*claim, "claimName")));
  }
  if (const Object* csi = get_object(volume, "csi")) return std::string(get_string(*csi, "driver"));
  return migrated_driver(volume);
}

bool projects_audience(const Object& volume, std::string_view audience) {
  bool found = false;
  each(object_or_empty(volume, "projected"), "sources", [&](const Object& source, std::size_t) {
    const Object* token = get_object(source, "serviceAccountToken");
    found = found || (token != nullptr && get_string(*token, "audience") == audience);
  });
  return found;
}

Result<bool> driver_requests(const VolumeData& data, const std::string& name, std::string_view audience) {
  const auto driver = data.drivers.find("", name);
  if (!driver) return data.drivers.missing(name);
  bool found = false;
  each(object_or_empty(*driver, "spec"), "tokenRequests",
       [&](const Object& request, std::size_t) { found = found || get_string(request, "audience") == audience; });
  return found;
}

Result<bool> volume_uses(const VolumeData& data, const Object& pod, const Object& volume, std::string_view audience) {
  if (projects_audience(volume, audience)) return true;
  const Driver driver = volume_driver(data, pod, volume);
  if (!driver.ok()) return driver.status();
  if (driver->empty()) return false;
  return driver_requests(data, *driver, audience);
}

}  // namespace

Result<bool> pod_uses_audience(const VolumeData& data, const Object& pod, std::string_view audience) {
  bool found = false;
  std::vector<std::string> problems;
  each(object_or_empty(pod, "spec"), "volumes", [&](const Object& volume, std::size_t) {
    if (found) return;
    const auto uses = volume_uses(data, pod, volume, audience);
    if (!uses.ok()) return problems.push_back(uses.status().message());
    found = *uses;
  });
  if (found || problems.empty()) return found;
  return bad_request(aggregate_text(problems));
}

}  // namespace backplane::admission::nodes

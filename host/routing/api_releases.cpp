#include "routing/api_releases.hpp"

#include <algorithm>

namespace backplane {
namespace {

constexpr std::string_view kAdmission = "admissionregistration.k8s.io", kResource = "resource.k8s.io";

constexpr ResourceRelease kReleases[] = {
    {kAdmission, "v1", "mutatingadmissionpolicies", {1, 36}},
    {kAdmission, "v1beta1", "mutatingadmissionpolicies", {1, 34}},
    {kAdmission, "v1", "mutatingadmissionpolicybindings", {1, 36}},
    {kAdmission, "v1beta1", "mutatingadmissionpolicybindings", {1, 34}},
    {kAdmission, "v1beta1", "validatingadmissionpolicies", {1, 28}, {1, 34}},
    {kAdmission, "v1beta1", "validatingadmissionpolicybindings", {1, 28}, {1, 34}},
    {"certificates.k8s.io", "v1beta1", "podcertificaterequests", {1, 35}},
    {kResource, "v1", "deviceclasses", {1, 34}},
    {kResource, "v1beta2", "deviceclasses", {1, 33}},
    {kResource, "v1beta1", "deviceclasses", {1, 32}},
    {kResource, "v1", "resourceclaims", {1, 34}},
    {kResource, "v1beta2", "resourceclaims", {1, 33}},
    {kResource, "v1beta1", "resourceclaims", {1, 32}},
    {kResource, "v1", "resourceclaimtemplates", {1, 34}},
    {kResource, "v1beta2", "resourceclaimtemplates", {1, 33}},
    {kResource, "v1beta1", "resourceclaimtemplates", {1, 32}},
    {kResource, "v1", "resourceslices", {1, 34}},
    {kResource, "v1beta2", "resourceslices", {1, 33}},
    {kResource, "v1beta1", "resourceslices", {1, 32}},
    {kResource, "v1beta2", "devicetaintrules", {1, 36}},
    {kResource, "v1alpha3", "devicetaintrules", {1, 33}},
    {kResource, "v1alpha3", "resourcepoolstatusrequests", {1, 36}},
    {"storage.k8s.io", "v1", "volumeattributesclasses", {1, 34}},
    {"storage.k8s.io", "v1beta1", "volumeattributesclasses", {1, 31}},
    {"storagemigration.k8s.io", "v1beta1", "storageversionmigrations", {1, 35}},
};

}  // namespace

std::span<const ResourceRelease> resource_releases() noexcept { return kReleases; }

const ResourceRelease* release_of(const GroupVersionResource& resource) noexcept {
  const auto* found = std::find_if(std::begin(kReleases), std::end(kReleases), [&](const auto& row) { return row.is_of(resource); });
  return found == std::end(kReleases) ? nullptr : found;
}

}  // namespace backplane

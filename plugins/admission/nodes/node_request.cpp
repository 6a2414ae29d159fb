#include "nodes/node_request.hpp"

namespace backplane::admission::nodes {
namespace {

CachedResource cached(Services& services, const GroupVersionResource& resource, std::string_view group, std::string_view singular) {
  return {services.lister(resource), group, singular};
}

std::optional<VolumeData> volume_data(Services& services) {
  if (!services.gate("ServiceAccountNodeAudienceRestriction")) return std::nullopt;
  return VolumeData{cached(services, {"", "v1", "persistentvolumeclaims"}, "", "persistentvolumeclaim"),
                    cached(services, {"", "v1", "persistentvolumes"}, "", "persistentvolume"),
                    cached(services, {"storage.k8s.io", "v1", "csidrivers"}, "storage.k8s.io", "csidriver")};
}

}  // namespace

std::optional<Object> CachedResource::find(std::string_view ns, std::string_view name) const {
  const ObjectRef found = lister.find(ns, name);
  if (found == nullptr) return std::nullopt;
  return decode(*found, {});
}

Status CachedResource::missing(std::string_view name) const { return not_found(group, singular, name); }

NodeData::NodeData(Services& services)
    : host(services.host()),
      pods(cached(services, {"", "v1", "pods"}, "", "pod")),
      nodes(cached(services, {"", "v1", "nodes"}, "", "node")),
      accounts(cached(services, {"", "v1", "serviceaccounts"}, "", "serviceaccount")),
      volumes(volume_data(services)),
      insecure_certificate_requests(services.gate("AllowInsecureKubeletCertificateSigningRequests")),
      pod_certificate_requests(services.gate("PodCertificateRequest")) {}

Status NodeRequest::unexpected_operation() const {
  return refuse("unexpected operation " + quoted(admission_operation_name(attributes.operation)));
}

std::optional<std::string_view> node_of(const UserInfo& user) noexcept {
  constexpr std::string_view kUserPrefix = "system:node:";
  const std::string_view name = user.name;
  if (!name.starts_with(kUserPrefix) || !user.in_group("system:nodes")) return std::nullopt;
  return name.substr(kUserPrefix.size());
}

}  // namespace backplane::admission::nodes

#include "webhooks/own_service.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace backplane::admission::webhooks {
namespace {

using GroupAndResource = std::pair<std::string_view, std::string_view>;

constexpr std::array<GroupAndResource, 8> kServiceParts = {{
    {"", "pods"},
    {"", "services"},
    {"", "endpoints"},
    {"discovery.k8s.io", "endpointslices"},
    {"apps", "deployments"},
    {"apps", "replicasets"},
    {"apps", "statefulsets"},
    {"apps", "daemonsets"},
}};

}  // namespace

bool writes_own_service(std::string_view service_namespace, const AdmissionAttributes& attributes) noexcept {
  if (service_namespace.empty() || attributes.ns != service_namespace) return false;
  const GroupAndResource written{attributes.resource.group, attributes.resource.resource};
  return std::find(kServiceParts.begin(), kServiceParts.end(), written) != kServiceParts.end();
}

}  // namespace backplane::admission::webhooks

#include "webhooks/own_service.hpp"

#include <algorithm>
#include <array>

namespace backplane::admission::webhooks {
namespace {

// The namespace of the service; any subresource.
constexpr std::string_view kOfService = "<service>", kAny = "*";

struct Part {
  std::string_view ns, group, resource, subresource;
};

constexpr std::array<Part, 14> kParts = {{
    {kOfService, "", "pods", kAny},
    {kOfService, "", "services", kAny},
    {kOfService, "", "endpoints", kAny},
    {kOfService, "discovery.k8s.io", "endpointslices", kAny},
    {kOfService, "apps", "deployments", kAny},
    {kOfService, "apps", "replicasets", kAny},
    {kOfService, "apps", "statefulsets", kAny},
    {kOfService, "apps", "daemonsets", kAny},
    // A pod starts only if its node has a token for it, and is ready only while the node reports its status.
    {kOfService, "", "serviceaccounts", "token"},
    {"kube-node-lease", "coordination.k8s.io", "leases", kAny},
    {"", "", "nodes", "status"},
    // The service may elect a leader, and review its callers' tokens.
    {kOfService, "coordination.k8s.io", "leases", kAny},
    {"", "authentication.k8s.io", "tokenreviews", kAny},
    {"", "authorization.k8s.io", "subjectaccessreviews", kAny},
}};

}  // namespace

bool writes_own_service(std::string_view service_namespace, const AdmissionAttributes& attributes) noexcept {
  if (service_namespace.empty()) return false;
  return std::any_of(kParts.begin(), kParts.end(), [&](const Part& part) {
    return attributes.ns == (part.ns == kOfService ? service_namespace : part.ns) && attributes.resource.group == part.group &&
           attributes.resource.resource == part.resource && (part.subresource == kAny || attributes.subresource == part.subresource);
  });
}

}  // namespace backplane::admission::webhooks

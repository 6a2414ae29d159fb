#include "node/rules.hpp"

#include <algorithm>
#include <string>

namespace backplane::authorization {
namespace {

// Lists are separated by spaces; the core group is "-".
struct NodeRule {
  std::string_view verbs, groups, resources;
  bool NodeFeatures::*gate = nullptr;
};

// Resources that NodeAuthorizer decides on its own are not listed.
constexpr NodeRule kNodeRules[] = {
    {"create", "authentication.k8s.io", "tokenreviews"},
    {"create", "authorization.k8s.io", "subjectaccessreviews localsubjectaccessreviews"},
    {"get list watch", "-", "services"},
    {"create update patch", "- events.k8s.io", "events"},
    {"get", "-", "endpoints"},
    {"create get list watch", "certificates.k8s.io", "certificatesigningrequests"},
    {"get watch list", "storage.k8s.io", "csidrivers"},
    {"get list watch", "node.k8s.io", "runtimeclasses"},
    {"get list watch", "certificates.k8s.io", "clustertrustbundles", &NodeFeatures::cluster_trust_bundles},
};

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

bool node_rules_allow(const RequestView& request, const NodeFeatures& features) {
  if (!request.resource_request || !request.subresource.empty()) return false;
  const std::string_view group = request.api_group.empty() ? std::string_view("-") : request.api_group;
  return std::any_of(std::begin(kNodeRules), std::end(kNodeRules), [&](const NodeRule& rule) {
    return (rule.gate == nullptr || features.*rule.gate) && lists(rule.resources, request.resource) && lists(rule.groups, group) &&
           lists(rule.verbs, request.verb);
  });
}

}  // namespace backplane::authorization

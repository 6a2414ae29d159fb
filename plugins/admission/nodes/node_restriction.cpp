#include "nodes/node_restriction.hpp"

#include "nodes/restrict_tokens.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

struct RestrictionRow {
  std::string_view group, resource;
  Status (*restrict_write)(const NodeRequest& request);
};
constexpr RestrictionRow kRestrictions[] = {
    {"", "pods", restrict_pod},
    {"", "nodes", restrict_node},
    {"", "persistentvolumeclaims", restrict_claim},
    {"coordination.k8s.io", "leases", restrict_lease},
    {"storage.k8s.io", "csinodes", restrict_csi_node},
    {"resource.k8s.io", "resourceslices", restrict_resource_slice},
    {"certificates.k8s.io", "certificatesigningrequests", restrict_signing_request},
    {"certificates.k8s.io", "podcertificaterequests", restrict_pod_certificate},
};

bool is_account(const GroupVersionResource& resource) { return resource.group.empty() && resource.resource == "serviceaccounts"; }

class NodeRestriction final : public AdmissionPlugin {
 public:
  NodeRestriction(Services& services, Authorizer& authorizer) : data_(services), authorizer_(authorizer) {}

  std::string_view name() const noexcept override { return "NodeRestriction"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation != AdmissionOperation::kConnect; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    const auto node = node_of(attributes.user);
    if (!node) return Status();
    if (node->empty()) return admission_forbidden(attributes, "could not determine node from user " + quoted(attributes.user->name));
    const NodeRequest request{attributes, *node, data_};
    if (is_account(attributes.resource)) return admit_account_now(request);
    for (const RestrictionRow& row : kRestrictions) {
      if (row.resource == attributes.resource.resource && row.group == attributes.resource.group) return row.restrict_write(request);
    }
    return Status();
  }

  // Called only for tokens whose audience needs a decision of the authorizer.
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    const NodeRequest request{attributes, node_of(attributes.user).value_or(std::string_view()), data_};
    TokenDecision decision = restrict_token(request);
    if (!decision.needs_right) co_return std::move(decision.refusal);
    auto authorizing = authorizer_.authorize(*decision.needs_right);
    const AuthorizerResult result = co_await std::move(authorizing);
    co_return conclude_token(request, *decision.needs_right, result);
  }

 private:
  std::optional<Status> admit_account_now(const NodeRequest& request) const {
    TokenDecision decision = restrict_token(request);
    if (!decision.needs_right) return std::move(decision.refusal);
    const auto result = authorizer_.decide_now(RequestView(*decision.needs_right));
    if (!result) return std::nullopt;
    return conclude_token(request, *decision.needs_right, *result);
  }

  const NodeData data_;
  Authorizer& authorizer_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> node_restriction(Services& services, Authorizer& authorizer) {
  return std::make_shared<NodeRestriction>(services, authorizer);
}

}  // namespace backplane::admission::nodes

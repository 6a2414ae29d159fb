// The authorizer "Node": the rights of kubelets, which authenticate as their nodes.
//
// A request for a secret, config map, claim, volume, service account or similar object is allowed if the NodeGraph connects the object
// with the node; other resources have fixed rules. Users that are not nodes get no opinion.
// Thread-safety: any thread; decides without waiting.
// Source:        kubernetes plugin/pkg/auth/authorizer/node/node_authorizer.go.
#pragma once

#include <memory>

#include "backplane/points/authorization.hpp"
#include "node/graph.hpp"
#include "node/rules.hpp"

namespace backplane::authorization {

class NodeAuthorizer final : public Authorizer, public RuleResolver {
 public:
  NodeAuthorizer(std::shared_ptr<const NodeGraph> graph, NodeFeatures features) : graph_(std::move(graph)), features_(features) {}

  std::string_view name() const noexcept override { return "Node"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  // An error and an incomplete list for nodes, an empty list for other users.
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

 private:
  const std::shared_ptr<const NodeGraph> graph_;
  const NodeFeatures features_;
};

// The node's name if the user is a node: in the group system:nodes and named system:node:NAME. The name may be empty.
std::optional<std::string_view> node_of(const UserInfo& user) noexcept;

}  // namespace backplane::authorization

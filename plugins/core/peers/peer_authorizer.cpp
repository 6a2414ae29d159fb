#include "peers/peer_authorizer.hpp"

namespace backplane::core {
namespace {

// Grants the part of upstream's role system:discovery that peers need.
class PeerAuthorizer final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "peers"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    const bool discovery = !request.resource_request && request.verb == "get" && (request.path == "/api" || request.path == "/apis");
    return AuthorizerResult{discovery && is_peer(request.user) ? Decision::kAllow : Decision::kNoOpinion, "", {}};
  }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string) override {
    RuleList out;
    if (is_peer(user)) out.non_resource_rules.push_back({{"get"}, {"/api", "/apis"}});
    co_return out;
  }

 private:
  static bool is_peer(const UserInfo& user) { return user.name == "system:apiserver"; }
};

}  // namespace

std::shared_ptr<Authorizer> make_peer_authorizer() { return std::make_shared<PeerAuthorizer>(); }

}  // namespace backplane::core

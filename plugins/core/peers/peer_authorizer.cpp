#include "peers/peer_authorizer.hpp"

namespace backplane::core {
namespace {

// What upstream's role system:discovery lets everybody read who is known; of it, what peers ask for.
class PeerAuthorizer final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "peers"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    AuthorizerResult out;
    const bool discovery = !attributes.resource_request && attributes.verb == "get" &&  //
                           (attributes.path == "/api" || attributes.path == "/apis");
    if (discovery && is_peer(*attributes.user)) out.decision = Decision::kAllow;
    co_return out;
  }
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

// The plugin `authentication`: bearer tokens, the group authentication.k8s.io, and the ConfigMaps that describe how this server
// authenticates.
#include "backplane/plugin.hpp"

#include "authentication_group_json.hpp"
#include "authentication_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "cluster_trust.hpp"
#include "legacy_tokens.hpp"
#include "reviews.hpp"
#include "tokens/server_tokens.hpp"

namespace backplane::authentication {
namespace {

class AuthenticationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = kit::read_group(authentication_group_json());
    if (!document.ok()) return std::move(document).status();
    auto schemas = kit::embedded_schemas({authentication_v1_json()});
    if (!schemas.ok()) return std::move(schemas).status();
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    if (Status status = register_tokens(host); !status.ok()) return status;
    group.put("tokenreviews", make_token_reviews(group.schemas(), host.token_authenticator(), api_audiences(host)));
    group.put("selfsubjectreviews", make_self_subject_reviews(group.schemas()));
    if (Status status = group.install("authentication"); !status.ok()) return status;
    if (!host.resource_enabled({"", "v1", "configmaps"})) return {};
    Status status = keep<ClusterTrust>(host, "start-cluster-authentication-info-controller");
    return status.ok() ? keep<LegacyTokenTracking>(host, "start-legacy-token-tracking-controller") : status;
  }

 private:
  static Status register_tokens(Host& host) {
    auto tokens = server_tokens(host);
    if (!tokens.ok()) return std::move(tokens).status();
    // --authentication-config, --oidc-* and token webhooks follow the tokens that this server can verify without a call.
    if (tokens->empty()) return {};
    return host.register_authenticator(std::make_shared<TokenUnion>(std::move(*tokens), api_audiences(host)));
  }

  template <class Kept>
  static Status keep(Host& host, std::string hook) {
    return host.add_post_start_hook(std::move(hook), [&host](PostStartHookContext context) { return start<Kept>(host, context); });
  }

  template <class Kept>
  static Task<Status> start(Host& host, PostStartHookContext context) {
    const auto kept = std::make_shared<Kept>(host);
    Status started = co_await kept->start(context);
    co_return started;
  }
};

}  // namespace
}  // namespace backplane::authentication

BACKPLANE_PLUGIN(backplane::authentication::AuthenticationPlugin)

// The plugin `authentication`: bearer tokens, the group authentication.k8s.io, and the ConfigMaps that describe how this server
// authenticates.
#include "backplane/plugin.hpp"

#include <algorithm>

#include "authentication_group_json.hpp"
#include "authentication_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/api_group.hpp"
#include "cluster_trust.hpp"
#include "legacy_tokens.hpp"
#include "reviews.hpp"
#include "structured.hpp"
#include "tokens/server_tokens.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kName = "authentication";

// True if another instance of this plugin serves now, which this one replaces. At startup the host serves no group version yet.
bool replaces_another(const Host& host) {
  const auto versions = host.group_versions();
  return std::any_of(versions.begin(), versions.end(), [](const GroupVersionInfo& version) { return version.delegate == kName; });
}

class AuthenticationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = kit::read_group(authentication_group_json());
    if (!document.ok()) return std::move(document).status();
    auto schemas = kit::embedded_schemas({authentication_v1_json()});
    if (!schemas.ok()) return std::move(schemas).status();
    if (Status status = register_authenticators(host, *schemas); !status.ok()) return status;
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    group.put("tokenreviews", make_token_reviews(group.schemas(), host.token_authenticator(), api_audiences(host)));
    group.put("selfsubjectreviews", make_self_subject_reviews(group.schemas()));
    if (Status status = group.install(std::string(kName)); !status.ok()) return status;
    if (Status status = wait_for_issuers(host); !status.ok()) return status;
    if (!host.resource_enabled({"", "v1", "configmaps"})) return {};
    Status status = keep<ClusterTrust>(host, "start-cluster-authentication-info-controller");
    return status.ok() ? keep<LegacyTokenTracking>(host, "start-legacy-token-tracking-controller") : status;
  }

  Status validate() override {
    structured_->start();
    return {};
  }

 private:
  // Registers the authenticators in upstream's order: sources that verify tokens in this server precede those that call other servers.
  Status register_authenticators(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas) {
    auto tokens = server_tokens(host);
    if (!tokens.ok()) return std::move(tokens).status();
    auto structured = StructuredAuthentication::make(host, schemas, api_audiences(host));
    if (!structured.ok()) return std::move(structured).status();
    structured_ = std::move(*structured);
    for (TokenUnion::Entry& source : structured_->token_sources()) tokens->push_back(std::move(source));
    if (!tokens->empty()) {
      Status status = host.register_authenticator(std::make_shared<TokenUnion>(std::move(*tokens), api_audiences(host)));
      if (!status.ok()) return status;
    }
    const auto anonymous = structured_->anonymous();
    return anonymous == nullptr ? Status() : host.register_authenticator(anonymous);
  }

  // A replacement must not refuse tokens that the former instance accepts. Its post-start hooks run while the former instance serves, and
  // if they fail, that instance stays in service. Without a former instance nothing waits, as in kube-apiserver.
  Status wait_for_issuers(Host& host) {
    if (!structured_->has_issuers() || !replaces_another(host)) return {};
    return host.add_post_start_hook("wait-for-openid-issuers",
                                    [issuers = *structured_](PostStartHookContext) { return issuers.wait_for_start(); });
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

  std::optional<StructuredAuthentication> structured_;
};

}  // namespace
}  // namespace backplane::authentication

BACKPLANE_PLUGIN(backplane::authentication::AuthenticationPlugin)

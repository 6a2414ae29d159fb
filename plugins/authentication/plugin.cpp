// The plugin `authentication`: the group authentication.k8s.io, and what others are told of how this server authenticates.
#include "backplane/plugin.hpp"

#include "authentication_group_json.hpp"
#include "authentication_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "cluster_trust.hpp"
#include "flag_list.hpp"
#include "legacy_tokens.hpp"
#include "reviews.hpp"

namespace backplane::authentication {
namespace {

// Whom tokens are meant for that do not say more: those who issue them, unless it is said.
std::vector<std::string> api_audiences(const Host& host) {
  std::vector<std::string> audiences = flag_list(host, "api-audiences");
  return audiences.empty() ? flag_list(host, "service-account-issuer") : audiences;
}

class AuthenticationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = kit::read_group(authentication_group_json());
    if (!document.ok()) return std::move(document).status();
    auto schemas = kit::embedded_schemas({authentication_v1_json()});
    if (!schemas.ok()) return std::move(schemas).status();
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    group.put("tokenreviews", make_token_reviews(group.schemas(), host.token_authenticator(), api_audiences(host)));
    group.put("selfsubjectreviews", make_self_subject_reviews(group.schemas()));
    if (Status status = group.install("authentication"); !status.ok()) return status;
    if (!host.resource_enabled({"", "v1", "configmaps"})) return {};
    Status status = keep<ClusterTrust>(host, "start-cluster-authentication-info-controller");
    return status.ok() ? keep<LegacyTokenTracking>(host, "start-legacy-token-tracking-controller") : status;
  }

 private:
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

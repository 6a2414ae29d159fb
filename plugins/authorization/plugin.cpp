// The plugin `authorization`: the group authorization.k8s.io, and the authorizers Node, ABAC and Webhook.
#include "backplane/plugin.hpp"

#include "authorization_group_json.hpp"
#include "authorization_v1_json.hpp"
#include "authorizers.hpp"
#include "backplane/kit/group.hpp"
#include "reviews.hpp"

namespace backplane::authorization {
namespace {

class AuthorizationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = kit::read_group(authorization_group_json());
    if (!document.ok()) return std::move(document).status();
    auto schemas = kit::embedded_schemas({authorization_v1_json()});
    if (!schemas.ok()) return std::move(schemas).status();
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    for (auto& [resource, storage] : make_reviews(host.authorizer(), host.rule_resolver(), group.schemas())) {
      group.put(resource, storage);
    }
    if (Status status = provision_authorizers(host, group.schemas()); !status.ok()) return status;
    return group.install("authorization");
  }
};

}  // namespace
}  // namespace backplane::authorization

BACKPLANE_PLUGIN(backplane::authorization::AuthorizationPlugin)

#include "endpoints/creation.hpp"

#include "security/authorization.hpp"

namespace backplane::endpoints {

Task<Status> may_create(const Resource& resource, const RequestContext& context) {
  if (!context.info.is_resource_request) co_return Status();
  if (resource.scope.authorizer == nullptr) co_return internal_error("no authorizer provided, unable to authorize a create on update");
  AuthorizationAttributes attributes = authorization_attributes(context);
  attributes.verb = "create";
  auto asking = resource.scope.authorizer->authorize(attributes);
  AuthorizerResult result = co_await std::move(asking);
  if (result.decision == Decision::kAllow) co_return Status();
  if (!result.error.ok()) co_return internal_error(result.error.message());
  co_return forbidden_request(attributes, result.reason);
}

}  // namespace backplane::endpoints

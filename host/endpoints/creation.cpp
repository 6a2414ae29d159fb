#include "endpoints/creation.hpp"

#include "backplane/points/admission.hpp"
#include "security/authorization.hpp"

namespace backplane::endpoints {
namespace {

AdmissionAttributes attributes_of(const Resource& resource, RequestContext& context, std::string name, Object& object,
                                  WriteOptions options) {
  AdmissionAttributes attributes = admission_attributes(context, AdmissionOperation::kCreate, resource.scope.resource, resource.scope.kind);
  attributes.subresource = resource.scope.subresource;
  attributes.ns = resource.namespace_of(context);
  attributes.name = std::move(name);
  attributes.dry_run = options.dry_run;
  attributes.options = std::move(options);
  attributes.object = &object;
  return attributes;
}

}  // namespace

Task<Status> admit_create(const Resource& resource, RequestContext& context, std::string name, Object& object, WriteOptions options) {
  AdmissionRunner* admission = resource.scope.admission;
  if (admission == nullptr) co_return Status();
  AdmissionAttributes attributes = attributes_of(resource, context, std::move(name), object, std::move(options));
  Status status = co_await admission->admit(attributes);
  if (!status.ok()) co_return status;
  status = co_await admission->validate(attributes);
  co_return status;
}

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

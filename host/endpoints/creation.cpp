#include "endpoints/creation.hpp"

#include "backplane/points/admission.hpp"
#include "base/origin_executor.hpp"
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

// Runs validating admission for a create whose mutating admission has run.
class AdmittedCreate final : public CreateValidation {
 public:
  AdmittedCreate(AdmissionRunner& admission, const AdmissionAttributes& attributes) : admission_(admission), attributes_(attributes) {}
  Task<Status> validate(const Object&) override { return admission_.validate(attributes_); }

 private:
  AdmissionRunner& admission_;
  const AdmissionAttributes& attributes_;
};

Task<Result<ObjectRef>> create_in(const Resource& resource, RequestContext& context, CreateCall call, std::string name, Object& object,
                                  WriteOptions options) {
  if (call == CreateCall::kNamed) return resource.named_creater->create_named(context, std::move(name), object, std::move(options));
  return resource.creater->create(context, object, std::move(options));
}

}  // namespace

Task<Result<ObjectRef>> create_admitted(const Resource& resource, RequestContext& context, CreateCall call, std::string name,
                                        Object& object, WriteOptions options) {
  AdmissionRunner* const admission = call == CreateCall::kNamed ? resource.scope.admission : resource.admission;
  if (admission == nullptr) co_return co_await create_in(resource, context, call, std::move(name), object, std::move(options));
  const OriginExecutor origin;
  AdmissionAttributes attributes = attributes_of(resource, context, name, object, options);
  Status status = co_await admission->admit(attributes);
  co_await origin;
  if (!status.ok()) co_return status;
  if (resource.validated_creater != nullptr) {
    AdmittedCreate validation(*admission, attributes);
    co_return co_await resource.validated_creater->create_validated(context, std::move(name), object, std::move(options), validation);
  }
  status = co_await admission->validate(attributes);
  co_await origin;
  if (!status.ok()) co_return status;
  co_return co_await create_in(resource, context, call, std::move(name), object, std::move(options));
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

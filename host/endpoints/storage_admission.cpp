#include "endpoints/storage_admission.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::endpoints {
namespace {

AdmissionAttributes attributes_of(const Resource& resource, RequestContext& context, AdmissionOperation operation, std::string name) {
  AdmissionAttributes attributes = admission_attributes(context, operation, resource.scope.resource, resource.scope.kind);
  attributes.subresource = resource.scope.subresource;
  attributes.ns = resource.namespace_of(context);
  attributes.name = std::move(name);
  return attributes;
}

Task<Status> admit(AdmissionRunner& admission, AdmissionAttributes& attributes) {
  Status status = co_await admission.admit(attributes);
  if (!status.ok()) co_return status;
  status = co_await admission.validate(attributes);
  co_return status;
}

}  // namespace

Task<Result<Object>> AdmittedUpdate::updated_object(RequestContext& context, const Object* existing) {
  auto asking = resource_.fields != nullptr ? resource_.fields->wanted(sent_, nullptr, context, options_, existing)
                                            : sent_.updated_object(context, existing);
  auto object = co_await std::move(asking);
  if (!object.ok()) co_return object;
  const AdmissionOperation operation = existing != nullptr ? AdmissionOperation::kUpdate : AdmissionOperation::kCreate;
  AdmissionAttributes attributes = attributes_of(resource_, context, operation, context.info.name);
  attributes.dry_run = options_.dry_run;
  attributes.options = options_;
  attributes.object = &*object;
  attributes.old_object = existing;
  Status admitted = co_await admit(*resource_.admission, attributes);
  if (!admitted.ok()) co_return admitted;
  co_return object;
}

Task<Status> AdmittedUpdate::may_create(RequestContext& context) {
  Status allowed = co_await sent_.may_create(context);
  co_return allowed;
}

Task<Result<UpdateResult>> update_admitted(const Resource& resource, RequestContext& context, UpdatedObjectInfo& info, WriteOptions options,
                                           bool force_allow_create) {
  if (resource.admission == nullptr) {
    auto updating = resource.updater->update(context, context.info.name, info, std::move(options), force_allow_create);
    auto updated = co_await std::move(updating);
    co_return updated;
  }
  AdmittedUpdate admitted(resource, info, options);
  auto updating = resource.updater->update(context, context.info.name, admitted, std::move(options), force_allow_create);
  auto updated = co_await std::move(updating);
  co_return updated;
}

Task<Status> admit_remove(const Resource& resource, RequestContext& context, std::string name, DeleteOptions options) {
  if (resource.admission == nullptr) co_return Status();
  AdmissionAttributes attributes = attributes_of(resource, context, AdmissionOperation::kDelete, name);
  attributes.dry_run = options.dry_run;
  attributes.options = std::move(options);
  Object old_object(context.arena());
  if (!name.empty() && resource.getter != nullptr) {
    auto found = co_await resource.getter->get(context, std::move(name), {});
    if (found.ok()) {
      old_object = decode(**found, context.arena());
      attributes.old_object = &old_object;
    }
  }
  Status status = co_await admit(*resource.admission, attributes);
  co_return status;
}

}  // namespace backplane::endpoints

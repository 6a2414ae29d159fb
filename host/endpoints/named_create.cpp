#include "endpoints/body.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

AdmissionAttributes attributes_of(const Resource& resource, RequestContext& context, Object& object, const WriteOptions& options) {
  AdmissionAttributes attributes;
  attributes.operation = AdmissionOperation::kCreate;
  attributes.resource = resource.scope.resource;
  attributes.kind = resource.scope.kind;
  attributes.subresource = resource.scope.subresource;
  attributes.ns = resource.namespace_of(context);
  attributes.name = context.info.name;
  attributes.dry_run = options.dry_run;
  attributes.object = &object;
  attributes.context = &context;
  return attributes;
}

// Mutates, then validates.
Task<Status> admit(AdmissionRunner* admission, AdmissionAttributes& attributes) {
  if (admission == nullptr) co_return Status();
  Status status = co_await admission->admit(attributes);
  if (!status.ok()) co_return status;
  status = co_await admission->validate(attributes);
  co_return status;
}

// A Status that does not say its code gets the one it is sent with.
ObjectRef with_code(ObjectRef object) {
  const std::string_view json = object->json.view();
  if (raw_text(json, "kind") != "Status" || !raw_member(json, "code").empty() || !json.ends_with('}')) return object;
  auto entry = std::make_shared<ObjectEntry>(*object);
  entry->json = SharedBytes(std::string(json.substr(0, json.size() - 1)) + ",\"code\":201}");
  return entry;
}

}  // namespace

Task<Status> serve_named_create(const Resource& resource, RequestContext& context, Exchange& exchange) {
  auto media = negotiate(exchange, /*shapes=*/true);
  if (!media.ok()) co_return std::move(media.status());
  auto format = negotiate_input(exchange);
  if (!format.ok()) co_return std::move(format.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = write_options(request_query(exchange), WriteVerb::kCreate);
  if (!options.ok()) co_return std::move(options.status());
  auto object = decode_object(resource, context, *body, *format, options->field_validation);
  if (!object.ok()) co_return std::move(object.status());
  Status status = match_namespace(resource.namespace_of(context), *object);
  if (!status.ok()) co_return status;
  context.dry_run = options->dry_run;
  AdmissionAttributes attributes = attributes_of(resource, context, *object, *options);
  status = co_await admit(resource.scope.admission, attributes);
  if (!status.ok()) co_return status;
  auto creating = resource.named_creater->create_named(context, context.info.name, *object, std::move(*options));
  auto created = co_await std::move(creating);
  if (!created.ok()) co_return std::move(created.status());
  auto sending = send_object(resource, context, exchange, *media, 201, with_code(std::move(*created)));
  status = co_await std::move(sending);
  co_return status;
}

}  // namespace backplane::endpoints

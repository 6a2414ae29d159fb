#include "endpoints/audit_notes.hpp"

#include "backplane/core/meta.hpp"
#include "backplane/rest/object_defaults.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::endpoints {
namespace {

// The storage sets some defaults after the endpoint, but upstream's decoded object already has them. This function sets them, and orders
// the members as the type does. Objects of custom resources already have all defaults, and keep the order of their members.
std::string decoded_json(const Resource& resource, const Object& object) {
  const auto* defaults = resource.custom ? nullptr : role_of<ObjectDefaulter>(resource.scope.storage.get());
  if (defaults == nullptr || resource.schema == nullptr) return to_json(object);
  Value whole(object, object.storage());
  defaults->set_defaults(whole);
  return resource.schema->normalize(whole, nullptr).ok() ? to_json(whole) : to_json(object);
}

}  // namespace

void note_request_object(const Resource& resource, RequestContext& context, const Object& object) {
  if (context.audit == nullptr) return;
  AuditRecord& record = *context.audit;
  record.name = meta_text(object, "name");
  record.uid = meta_text(object, "uid");
  record.resource_version = meta_text(object, "resourceVersion");
  if (record.level >= AuditLevel::kRequest) record.request_object = SharedBytes(decoded_json(resource, object));
}

void note_delete_options(RequestContext& context, const Object& options) {
  if (!audits(context, AuditLevel::kRequest)) return;
  Object whole(context.arena());
  whole["kind"] = "DeleteOptions";
  whole["apiVersion"] = "meta.k8s.io/__internal";
  for (const auto& member : options) whole.emplace(member.key(), member.value());
  note_request_json(context, to_json(whole));
}

void note_request_patch(RequestContext& context, std::string_view patch, BodyFormat format) {
  if (!audits(context, AuditLevel::kRequest)) return;
  if (read_json(patch, context.arena())) return note_request_json(context, patch);
  if (format == BodyFormat::kJson) return;
  DecodeReport report;
  const auto tree = parse_body(patch, format, context.arena(), &report);
  if (tree.ok()) note_request_json(context, to_json(*tree));
}

}  // namespace backplane::endpoints

#include "endpoints/audit_notes.hpp"

#include "backplane/core/meta.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::endpoints {

void note_request_object(RequestContext& context, const Object& object) {
  if (context.audit == nullptr) return;
  AuditRecord& record = *context.audit;
  record.name = meta_text(object, "name");
  record.uid = meta_text(object, "uid");
  record.resource_version = meta_text(object, "resourceVersion");
  if (record.level >= AuditLevel::kRequest) record.request_object = SharedBytes(to_json(object));
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

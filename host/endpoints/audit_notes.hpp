// Records the parts of audit events that only the endpoints can determine: objectRef, requestObject, responseObject, responseStatus.
//
// If the request is not audited at the required level, the functions have no effect and cost one load.
// Thread-safety: one request.
#pragma once

#include "backplane/core/object.hpp"
#include "backplane/points/audit.hpp"
#include "endpoints/body.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

inline bool audits(const RequestContext& context, AuditLevel level) noexcept {
  return context.audit != nullptr && context.audit->level >= level;
}

// Records the object of the request as upstream's decoder returns it: with all defaults, and without the fields that the handler sets. From
// level Metadata on, records its name, uid and resourceVersion; from level Request on, also its JSON.
void note_request_object(const Resource& resource, RequestContext& context, const Object& object);
// Records a patch as it was sent, or as JSON if it is YAML or CBOR. If the patch cannot be parsed, there is no requestObject.
void note_request_patch(RequestContext& context, std::string_view patch, BodyFormat format);
// Records the normalized options of a deletion. As in upstream, apiVersion is that of the internal version.
void note_delete_options(RequestContext& context, const Object& options);
inline void note_request_json(RequestContext& context, std::string_view json) {
  if (audits(context, AuditLevel::kRequest)) context.audit->request_object = SharedBytes(std::string(json));
}
// Records the object of the response, and shares its bytes.
inline void note_response_object(RequestContext& context, const ObjectEntry& object) {
  if (audits(context, AuditLevel::kRequestResponse)) context.audit->response_object = object.json();
}
inline void note_response_document(RequestContext& context, std::string_view json) {
  if (audits(context, AuditLevel::kRequestResponse)) context.audit->response_object = SharedBytes(std::string(json));
}
inline void note_response_status(RequestContext& context, const Status& status) {
  if (context.audit != nullptr) context.audit->response_status = status;
}

}  // namespace backplane::endpoints

// Records the parts of audit events that only endpoints know: objectRef, requestObject, responseObject, responseStatus.
//
// Each function has no effect on a request that is not audited at the level that it needs; the check is one load.
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

// The object of the request as upstream's decoder returns it: with all defaults, without the fields that the handler fills in. Records its
// name, uid and resourceVersion from level Metadata on, its JSON from level Request on.
void note_request_object(const Resource& resource, RequestContext& context, const Object& object);
// A patch as it was sent; as JSON if it is YAML or CBOR.  A patch that cannot be read leaves no requestObject.
void note_request_patch(RequestContext& context, std::string_view patch, BodyFormat format);
// The options that were sent with a deletion, normalized; upstream writes them in its internal version.
void note_delete_options(RequestContext& context, const Object& options);
inline void note_request_json(RequestContext& context, std::string_view json) {
  if (audits(context, AuditLevel::kRequest)) context.audit->request_object = SharedBytes(std::string(json));
}
// Shares the bytes of the object of the response.
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

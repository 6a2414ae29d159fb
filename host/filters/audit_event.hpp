// The parts of an audit event that a request determines, as upstream's audit.LogRequestMetadata.
//
// Thread-safety: any thread.
#pragma once

#include "backplane/points/audit.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

std::shared_ptr<const AuditRequest> audit_request(const RequestContext& context, const Exchange& exchange);
// The addresses of X-Forwarded-For, X-Real-Ip and the connection, in this order, each once in a row.
std::vector<std::string> source_ips(const Exchange& exchange);
// The object, list or Table of `json` without metadata.managedFields.  JSON that is none of them, a patch for example, is returned as it
// is.
SharedBytes without_managed_fields(const SharedBytes& json);

}  // namespace backplane

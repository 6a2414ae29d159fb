// The request data of audit events, like upstream's audit.LogRequestMetadata.
//
// Thread-safety: any thread.
#pragma once

#include "backplane/points/audit.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

std::shared_ptr<const AuditRequest> audit_request(const RequestContext& context, const Exchange& exchange);
// Returns the addresses of X-Forwarded-For, then of X-Real-Ip, then of the connection. X-Real-Ip is left out if X-Forwarded-For has it; the
// connection's address is left out if it equals the preceding address.
std::vector<std::string> source_ips(const Exchange& exchange);
// Removes metadata.managedFields from the object, list or Table in `json`. Other JSON, such as a patch, is returned unchanged.
SharedBytes without_managed_fields(const SharedBytes& json);

}  // namespace backplane

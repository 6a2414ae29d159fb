// The context of a write that a subresource performs on the pod itself. Admission has checked only the subresource's object.
//
// Thread-safety: belongs to one request.
// Lifetime:      `inner` must not outlive `request`.
#pragma once

#include "backplane/core/request.hpp"

namespace backplane::core {

// Copies the user and the other members that the write needs from `request` to `inner`.
inline void begin_inner_write(RequestContext& inner, const RequestContext& request) {
  inner.user = request.user;
  inner.info = request.info;
  inner.info.is_resource_request = false;
  inner.audit_id = request.audit_id;
  inner.user_agent = request.user_agent;
  inner.received = request.received;
  inner.deadline = request.deadline;
  inner.dry_run = request.dry_run;
}

}  // namespace backplane::core

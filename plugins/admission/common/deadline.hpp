// The deadline of the request that a write belongs to. A plugin that ignores failures must not allow a write after this deadline: the
// client chooses the deadline, so a short timeout would disable the plugin. Upstream's store refuses such a write, because its context has
// ended.
//
// Thread-safety: pure functions.
#pragma once

#include <chrono>
#include <utility>

#include "backplane/core/request.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission {

inline bool deadline_passed(const AdmissionAttributes& attributes) {
  return attributes.context != nullptr && std::chrono::steady_clock::now() >= attributes.context->deadline;
}
inline Status deadline_status() { return timeout("request did not complete within requested timeout", 0); }
// Returns `status`, or a timeout error if `status` allows the write but the deadline has passed.
inline Status unless_late(const AdmissionAttributes& attributes, Status status) {
  return status.ok() && deadline_passed(attributes) ? deadline_status() : std::move(status);
}

}  // namespace backplane::admission

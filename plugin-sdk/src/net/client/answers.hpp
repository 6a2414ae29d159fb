// Responses of API servers: objects, and Status objects as errors.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"

namespace backplane::api_client {

// Returns the metav1.Status in the body of an error response. For any other body, returns a Status with the code and the body's text.
Status status_of(int code, std::string_view body);
Status status_of(const Object& object, int code);
// Returns the revision of an object or of a list; 0 if it has none.
Revision revision_of(const Object& object);

}  // namespace backplane::api_client

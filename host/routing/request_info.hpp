// Parses the method and the URL of a request, like apiserver/pkg/endpoints/request.RequestInfoFactory.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest if the path has an invalid percent escape. kInternalError for `/api/v1/watch` without a resource, as upstream.
#pragma once

#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

// Fills an empty `info` from the method ("GET") and the target ("/api/v1/pods?watch=1").
Status parse_request_info(std::string_view method, std::string_view target, RequestInfo& info);

// Returns true for the verbs watch and proxy, for the subresources attach, exec, proxy, log and portforward, and for paths below
// /debug/pprof/.
bool is_long_running(const RequestInfo& info) noexcept;

}  // namespace backplane

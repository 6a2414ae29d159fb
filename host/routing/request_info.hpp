// Parses the URL: apiserver/pkg/endpoints/request.RequestInfoFactory.
//
// Thread-safety: pure function.
// Errors:        kBadRequest for paths that cannot be read (`/api/v1/watch` without a resource: 500 upstream, kept).
#pragma once

#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

// Fills the new `info` from method ("GET") and target ("/api/v1/pods?watch=1").
Status parse_request_info(std::string_view method, std::string_view target, RequestInfo& info);

// watch and proxy verbs; attach, exec, proxy, log and portforward subresources; /debug/pprof/ paths.
bool is_long_running(const RequestInfo& info) noexcept;

}  // namespace backplane

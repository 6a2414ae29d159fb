// GET /statusz and /flagz: version, uptime and flags of the server.  The response is text; it is JSON or YAML for requests with
// Accept: application/json;as=Statusz;g=config.k8s.io;v=v1beta1.
//
// Thread-safety: any number of requests at once.
// Lifetime:      a handler owns copies of its arguments; `paths` is called for each request.
// Errors:        406 for an Accept header that names no supported type.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/points/http.hpp"
#include "routing/version.hpp"

namespace backplane {

// The uptime on the page begins with this call.
std::shared_ptr<HttpHandler> make_statusz_handler(ReportedVersion version, std::function<std::vector<std::string>()> paths);
std::shared_ptr<HttpHandler> make_flagz_handler(std::map<std::string, std::string> flags);

}  // namespace backplane

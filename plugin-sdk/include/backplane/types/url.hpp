// What Go's net/url refuses.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Of url.Parse and url.ParseRequestURI: `parse ":a": missing protocol scheme`; empty: it is a URL.
std::string url_problem(std::string_view text);
std::string request_uri_problem(std::string_view text);

}  // namespace BACKPLANE_API

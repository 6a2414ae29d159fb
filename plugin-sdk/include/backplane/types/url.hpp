// Validation of URLs with the errors of Go's net/url.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Return the error of url.Parse (url_problem) or of url.ParseRequestURI (request_uri_problem), such as `parse ":a": missing protocol
// scheme`; empty if the text is valid. The error quotes the text.
//
//   url_problem("a/b")          // "": url.Parse accepts relative references and fragments
//   request_uri_problem("a/b")  // an error: the text must be an absolute URI or an absolute path
std::string url_problem(std::string_view text);
std::string request_uri_problem(std::string_view text);

}  // namespace BACKPLANE_API

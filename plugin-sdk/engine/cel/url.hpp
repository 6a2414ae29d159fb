// URLs as Go's net/url reads them.
//
// Thread-safety: pure functions; the parts lie in the arena, or in the text.
// Errors:        Go's message: `parse "a b": …`.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

// Parses like url.ParseRequestURI and then like url.Parse.  False: not a URL.
bool parse_url(Arena& arena, std::string_view text, UrlVal& out, std::string& error);
// The error of url.Parse alone; empty: valid.
std::string url_problem(std::string_view text);
// The error of url.ParseRequestURI alone; empty: valid.
std::string request_uri_problem(std::string_view text);
// The unescaped text; false: an escape is invalid.
bool unescape_query(std::string_view text, std::string& out);

}  // namespace backplane::cel_detail

// Texts of HTTP heads: canonical header names, reason phrases, the date.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/http.hpp"

namespace backplane {

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;
// "content-type" → "Content-Type", as in net/textproto. A name with characters that a token may not have is returned unchanged.
std::string canonical_header_name(std::string_view name);
// Returns true if canonical_header_name() would not change the name and the name is a token. This is true of nearly all names.
bool is_canonical_header_name(std::string_view name);
std::string lower_case(std::string_view text);
void append_lower_case(std::string& out, std::string_view text);
// Returns the text without leading and trailing spaces and tabs.
std::string_view trimmed(std::string_view text) noexcept;
// Returns the first value of header `name`; empty if there is none.
std::string_view find_header(const Headers& headers, std::string_view name) noexcept;
// Returns whether the comma-separated values of header `name` contain `token`, ignoring case.
bool header_has_token(const Headers& headers, std::string_view name, std::string_view token) noexcept;
// Replaces CR, LF and NUL by blanks, so that a value cannot begin another header.
void strip_line_breaks(std::string& value) noexcept;
// "OK" for 200; "status code N" for unregistered codes.
std::string reason_phrase(int code);
// Returns the current time in the format of RFC 9110. Each thread formats it at most once a second.
std::string_view http_date();
// Returns whether a response with this code may have a body.
bool code_has_body(int code) noexcept;

}  // namespace backplane

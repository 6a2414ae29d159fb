// Texts of the HTTP head: canonical header names, reason phrases, the date.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/http.hpp"

namespace backplane {

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;
// "content-type" → "Content-Type", as net/textproto does; names with other characters than tokens stay as they are.
std::string canonical_header_name(std::string_view name);
// A token that is canonical already: nearly every name.
bool is_canonical_header_name(std::string_view name);
std::string lower_case(std::string_view text);
void append_lower_case(std::string& out, std::string_view text);
// The text without leading and trailing blanks.
std::string_view trimmed(std::string_view text) noexcept;
// First value of `name`, or empty.
std::string_view find_header(const Headers& headers, std::string_view name) noexcept;
// Whether a comma-separated list header contains `token`, ignoring case.
bool header_has_token(const Headers& headers, std::string_view name, std::string_view token) noexcept;
// Replaces CR and LF by blanks, so that a value cannot begin another header.
void strip_line_breaks(std::string& value) noexcept;
// "OK" for 200; "status code N" for unregistered codes.
std::string reason_phrase(int code);
// RFC 9110 date of now; computed once a second and thread.
std::string_view http_date();
// Whether a response with this code may have a body.
bool code_has_body(int code) noexcept;

}  // namespace backplane

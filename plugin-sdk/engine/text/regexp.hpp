// A compiled pattern.
//
// Thread-safety: immutable; any number of threads match at once.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

namespace backplane::schema {

// Returns null if the pattern is invalid; `problem` then has Go's message.
std::unique_ptr<const re2::RE2> compile_regexp(std::string_view pattern, std::string& problem);
// Whether the pattern matches anywhere in the text, in linear time.
bool finds(const re2::RE2& regexp, std::string_view text);

}  // namespace backplane::schema

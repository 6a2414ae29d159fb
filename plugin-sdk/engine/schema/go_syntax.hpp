// The error of Go's json scanner for a text that is not JSON.
//
// Thread-safety: pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane::schema {

// The message of encoding/json's checkValid; nullopt if the text is JSON.
std::optional<std::string> go_syntax_error(std::string_view text);

}  // namespace backplane::schema

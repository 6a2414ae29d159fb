// The texts of values in error messages, for nodes and their attributes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "cel/value.hpp"

namespace backplane::cel_detail {

std::string plain_text(Arena& arena, const Val& value);
// The Go type of a value, as Go prints it.
std::string_view go_type(const Val& value) noexcept;

}  // namespace backplane::cel_detail

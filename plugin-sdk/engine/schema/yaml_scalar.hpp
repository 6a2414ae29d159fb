// Plain YAML scalars as go-yaml v2 resolves them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::schema {

// The value of a plain scalar: null, a boolean, a number or a text.  Timestamps stay texts.
Value resolve_plain(std::string_view text, const json::storage_ptr& storage);
// True for infinities and NaN, which JSON does not have.
bool is_special_float(std::string_view text) noexcept;
// An infinity or NaN as Go prints it: +Inf, -Inf, NaN.
std::string go_special_float(std::string_view text);
// The text of a numeric key by sigs.k8s.io/yaml: in the precision of a float32.
std::string key_of_special_float(std::string_view text);
std::string key_of_float(double number);
// Whether a plain scalar would be read as the same text: not as a number, boolean, null, timestamp or merge key.
bool is_plain_text(std::string_view text);

}  // namespace backplane::schema

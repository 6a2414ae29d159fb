// Texts, keys and numbers in the forms go-yaml v2 chooses.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backplane::schema {

// go-yaml's order of keys: letters before the rest, runs of digits by value.
bool yaml_key_less(std::string_view a, std::string_view b);
// Whether a key fits on one line before its ':'.
bool is_simple_key(std::string_view text);
// Appends the text plain, quoted or as a block, as go-yaml decides.  `column`: its start; `indent`: that of the enclosing collection.
void append_yaml_text(std::string& out, std::string_view text, std::size_t column, int indent, bool key);
void append_yaml_double(std::string& out, double number);

}  // namespace backplane::schema

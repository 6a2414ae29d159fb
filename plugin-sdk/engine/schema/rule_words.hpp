// Parts of x-backplane-rules that several readers share: texts, formats by their names, conditions.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/rules.hpp"

namespace backplane::schema {

// The texts of a list; other items are skipped.
std::vector<std::string> string_items(const Value& list);
std::string string_or_empty(const Value& value);

// The check of a text by its name; null for unknown names.
using FormatCheck = Problems (*)(std::string_view);
FormatCheck format_named(std::string_view word) noexcept;

// "spec.type", or "/spec.type" below the whole object.
MemberPath member_path(std::string_view text);
// One set of conditions, or a list of sets; empty if one is invalid.
Conditions conditions_of(const Value& value);

}  // namespace backplane::schema

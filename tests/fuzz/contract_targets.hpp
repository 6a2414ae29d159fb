// Targets of custom resources: validation rules and their values, paths of columns, responses of conversion webhooks.
#pragma once

#include <string_view>

namespace backplane::fuzz {

// The first line of the bytes is an expression; the rest is the object on which it is evaluated.
void expression_values(std::string_view bytes);
// The first line of the bytes is a path; the rest is the object to which it is applied.
void json_paths(std::string_view bytes);
void column_paths(std::string_view bytes);
void conversion_answers(std::string_view bytes);

}  // namespace backplane::fuzz

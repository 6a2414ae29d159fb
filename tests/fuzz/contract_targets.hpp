// Parts of custom resources: values for rules, paths of columns, responses of conversion webhooks.
#pragma once

#include <string_view>

namespace backplane::fuzz {

// An expression on a line, and the object that it is about.
void expression_values(std::string_view bytes);
// A path on a line, and the object to which it is applied.
void json_paths(std::string_view bytes);
void column_paths(std::string_view bytes);
void conversion_answers(std::string_view bytes);

}  // namespace backplane::fuzz

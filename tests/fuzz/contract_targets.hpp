// What custom resources are made of: values that rules look at, paths of columns, answers of conversion webhooks.
#pragma once

#include <string_view>

namespace backplane::fuzz {

// An expression on a line, and the object that it is about.
void expression_values(std::string_view bytes);
// A path on a line, and the object that it leads through.
void json_paths(std::string_view bytes);
void column_paths(std::string_view bytes);
void conversion_answers(std::string_view bytes);

}  // namespace backplane::fuzz

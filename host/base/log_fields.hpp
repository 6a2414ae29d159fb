// Splits a log line into its text and the `key=value` pairs at its end.
//
// Thread-safety: pure functions.
// Lifetime:      the fields borrow the message.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

struct LogFields {
  std::string_view words;
  // In order.  A value in quotes is unquoted; the value of `error` and `reason` is the rest of the line, which may contain blanks.
  std::vector<std::pair<std::string_view, std::string>> values;
};
LogFields split_log_message(std::string_view message);

// As a JSON value: whole numbers and booleans as such, everything else as a string.
void append_log_value(std::string& out, std::string_view value);

}  // namespace backplane

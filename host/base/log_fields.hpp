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
  // The pairs in the order of the line.  A quoted value is unquoted. The value of the keys `error` and `reason` is the rest of the line if
  // it is not quoted, because it may contain blanks.
  std::vector<std::pair<std::string_view, std::string>> values;
};
LogFields split_log_message(std::string_view message);

// Appends the value as JSON: whole numbers and booleans as such, every other value as a string.
void append_log_value(std::string& out, std::string_view value);

}  // namespace backplane

// Times and durations as Go's time package reads and prints them.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::schema {

struct GoTime {
  std::int64_t seconds = 0;  // since 1970
  std::int32_t nanos = 0;
};

// Parses like time.Parse with RFC 3339, or with the layout of metav1.MicroTime. `error` gets Go's message if the text is invalid.
std::optional<GoTime> parse_go_time(std::string_view text, bool micro, std::string& error);
// Parse a time without a zone (UTC), and a date.
std::optional<GoTime> parse_go_local_time(std::string_view text, std::string& error);
std::optional<GoTime> parse_go_date(std::string_view text, std::string& error);
// UTC with whole seconds, or with six fraction digits.
std::string print_go_time(const GoTime& time, bool micro);
// Whether the text equals the output of print_go_time for its value.
bool is_canonical_time(std::string_view text, bool micro) noexcept;

// Like time.ParseDuration (in nanoseconds) and Duration.String.
std::optional<std::int64_t> parse_go_duration(std::string_view text, std::string& error);
std::string print_go_duration(std::int64_t nanoseconds);

}  // namespace backplane::schema

// Times and durations of expressions: RFC 3339, calendars, time zones, as in Go's time package.
//
// Thread-safety: any thread; a zone is read once and cached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::cel_detail {

// The seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
inline constexpr std::int64_t kFirstSecond = -62135596800;
inline constexpr std::int64_t kLastSecond = 253402300799;
inline constexpr std::int64_t kNanos = 1'000'000'000;

struct Instant {
  std::int64_t seconds = 0;
  std::uint32_t nanos = 0;
  std::int16_t zone = 0;  // minutes east
};

// Parses like time.Parse with the layout RFC 3339.
std::optional<Instant> parse_instant(std::string_view text);
// Parses like go-openapi's strfmt for the formats date-time, date and duration; `error` has its message.
std::optional<Instant> parse_date_time(std::string_view text, std::string& error);
std::optional<Instant> parse_date(std::string_view text, std::string& error);
std::optional<std::int64_t> parse_format_duration(std::string_view text, std::string& error);
// RFC 3339 with as many digits of the second as are needed.
std::string print_instant(const Instant& instant);
// "3.5s"
std::string print_seconds(std::int64_t nanoseconds);

struct Civil {
  std::int64_t year = 0;
  int month = 0;  // from 1
  int day = 0;    // from 1
  int day_of_year = 0, weekday = 0;
  int hour = 0, minute = 0, second = 0;
};
Civil civil_of(std::int64_t seconds) noexcept;
// Seconds east of UTC at that time, in a zone by name ("Europe/Berlin", "UTC", "") or by distance ("+02:00").  `error`: Go's message.
std::optional<std::int64_t> zone_offset(std::string_view zone, std::int64_t seconds, std::string& error);

}  // namespace backplane::cel_detail

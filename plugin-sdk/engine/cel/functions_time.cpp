// Accessors of timestamps and durations.
#include "cel/functions.hpp"
#include "cel/times.hpp"

namespace backplane::cel_detail {
namespace {

using Part = std::int64_t (*)(const Civil& civil, const Val& time);

std::int64_t year(const Civil& civil, const Val&) { return civil.year; }
std::int64_t month(const Civil& civil, const Val&) { return civil.month - 1; }
std::int64_t day_of_year(const Civil& civil, const Val&) { return civil.day_of_year; }
std::int64_t date(const Civil& civil, const Val&) { return civil.day; }
std::int64_t day_of_month(const Civil& civil, const Val&) { return civil.day - 1; }
std::int64_t day_of_week(const Civil& civil, const Val&) { return civil.weekday; }
std::int64_t hours(const Civil& civil, const Val&) { return civil.hour; }
std::int64_t minutes(const Civil& civil, const Val&) { return civil.minute; }
std::int64_t seconds(const Civil& civil, const Val&) { return civil.second; }
std::int64_t milliseconds(const Civil&, const Val& time) { return time.size / 1'000'000; }

// Reads a part of a timestamp, in the time zone of the second argument or in UTC.
template <Part kPart>
Val part(Call& call) {
  const Val& time = call[0];
  std::int64_t offset = 0;
  if (call.size() > 1) {
    std::string error;
    const auto found = zone_offset(call.text(1), time.integer, error);
    if (!found) return error_val(call.arena, error);
    offset = *found;
  }
  return int_val(kPart(civil_of(time.integer + offset), time));
}

template <std::int64_t kUnit>
Val whole(Call& call) {
  return int_val(call[0].integer / kUnit);
}

constexpr Implementation kFunctions[] = {
    {"timestamp_to_year", part<year>},
    {"timestamp_to_year_with_tz", part<year>},
    {"timestamp_to_month", part<month>},
    {"timestamp_to_month_with_tz", part<month>},
    {"timestamp_to_day_of_year", part<day_of_year>},
    {"timestamp_to_day_of_year_with_tz", part<day_of_year>},
    {"timestamp_to_day_of_month", part<day_of_month>},
    {"timestamp_to_day_of_month_with_tz", part<day_of_month>},
    {"timestamp_to_day_of_month_1_based", part<date>},
    {"timestamp_to_day_of_month_1_based_with_tz", part<date>},
    {"timestamp_to_day_of_week", part<day_of_week>},
    {"timestamp_to_day_of_week_with_tz", part<day_of_week>},
    {"timestamp_to_hours", part<hours>},
    {"timestamp_to_hours_with_tz", part<hours>},
    {"timestamp_to_minutes", part<minutes>},
    {"timestamp_to_minutes_with_tz", part<minutes>},
    {"timestamp_to_seconds", part<seconds>},
    {"timestamp_to_seconds_tz", part<seconds>},
    {"timestamp_to_seconds_with_tz", part<seconds>},
    {"timestamp_to_milliseconds", part<milliseconds>},
    {"timestamp_to_milliseconds_with_tz", part<milliseconds>},
    {"duration_to_hours", whole<3600 * kNanos>},
    {"duration_to_minutes", whole<60 * kNanos>},
    {"duration_to_seconds", whole<kNanos>},
    {"duration_to_milliseconds", whole<1'000'000>},
};

}  // namespace

std::span<const Implementation> time_functions() { return kFunctions; }

}  // namespace backplane::cel_detail

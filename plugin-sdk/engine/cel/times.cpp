#include "cel/times.hpp"

#include <array>
#include <charconv>

#include "cel/zones.hpp"
#include "text/go_time.hpp"

namespace backplane::cel_detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::int16_t zone_of(std::string_view text) noexcept {
  if (text.size() < 6 || text.back() == 'Z') return 0;
  const std::string_view zone = text.substr(text.size() - 6);
  auto two = [&](std::size_t at) { return (zone[at] - '0') * 10 + (zone[at + 1] - '0'); };
  const int minutes = two(1) * 60 + two(4);
  return static_cast<std::int16_t>(zone[0] == '-' ? -minutes : minutes);
}

std::optional<Instant> parse(std::string_view text, std::string& error) {
  const auto time = schema::parse_go_time(text, false, error);
  if (!time) return std::nullopt;
  return Instant{time->seconds, static_cast<std::uint32_t>(time->nanos), zone_of(text)};
}

std::optional<Instant> utc(const std::optional<schema::GoTime>& time) {
  if (!time) return std::nullopt;
  return Instant{time->seconds, static_cast<std::uint32_t>(time->nanos), 0};
}

std::string padded(std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number < 0 ? -number : number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return number < 0 ? "-" + digits : digits;
}

// ".5"; empty for 0.
std::string fraction(std::uint32_t nanos) {
  if (nanos == 0) return {};
  std::string digits = padded(nanos, 9);
  digits.erase(digits.find_last_not_of('0') + 1);
  return "." + digits;
}

struct Unit {
  std::string_view name;
  std::int64_t nanos;
  bool prefix;  // any word with this prefix
};
constexpr std::int64_t kHour = 3600 * kNanos;
constexpr auto kUnits = std::to_array<Unit>({
    {"ns", 1, false},          {"nano", 1, true},          {"us", 1000, false},         {"\xC2\xB5s", 1000, false},
    {"micro", 1000, true},     {"ms", 1000000, false},     {"milli", 1000000, true},    {"s", kNanos, false},
    {"sec", kNanos, true},     {"m", 60 * kNanos, false},  {"min", 60 * kNanos, true},  {"h", kHour, false},
    {"hr", kHour, false},      {"hour", kHour, true},      {"d", 24 * kHour, false},    {"day", 24 * kHour, true},
    {"w", 168 * kHour, false}, {"wk", 168 * kHour, false}, {"week", 168 * kHour, true},
});

std::optional<std::int64_t> unit_of(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (unit.prefix ? text.starts_with(unit.name) : text == unit.name) return unit.nanos;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
  std::string error;
  return parse(text, error);
}

std::optional<Instant> parse_date_time(std::string_view text, std::string& error) {
  if (text.empty()) return Instant{};
  if (const auto exact = parse(text, error)) return exact;
  // Layouts are tried one after the other, and the last one's error is reported.
  return utc(schema::parse_go_local_time(text, error));
}

std::optional<Instant> parse_date(std::string_view text, std::string& error) { return utc(schema::parse_go_date(text, error)); }

std::optional<std::int64_t> parse_format_duration(std::string_view text, std::string& error) {
  std::string ignored;
  if (const auto plain = schema::parse_go_duration(text, ignored)) return plain;
  // "3 days 2 hours": numbers and units anywhere in the text.
  std::int64_t sum = 0;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (problem != std::errc()) break;
    at = static_cast<std::size_t>(end - text.data());
    while (at < text.size() && text[at] == ' ') ++at;
    std::string unit;
    while (at < text.size() && !is_digit(text[at]) && text[at] != ' ' && text[at] != ',') {
      unit.push_back(text[at] >= 'A' && text[at] <= 'Z' ? static_cast<char>(text[at] + 32) : text[at]);
      ++at;
    }
    const auto nanos = unit_of(unit);
    std::int64_t part = 0;
    if (!nanos || __builtin_mul_overflow(number, *nanos, &part) || __builtin_add_overflow(sum, part, &sum)) continue;
    any = true;
  }
  if (any) return sum;
  error = "unable to parse " + std::string(text) + " as duration";
  return std::nullopt;
}

Civil civil_of(std::int64_t seconds) noexcept {
  std::int64_t days = seconds / 86400, rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  Civil out;
  out.hour = static_cast<int>(rest / 3600);
  out.minute = static_cast<int>(rest / 60 % 60);
  out.second = static_cast<int>(rest % 60);
  out.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  const std::int64_t z = days + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const std::int64_t day_of_era = z - era * 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_march_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_march_year + 2) / 153;
  out.day = static_cast<int>(day_of_march_year - (153 * month + 2) / 5 + 1);
  out.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  const bool leap = out.year % 4 == 0 && (out.year % 100 != 0 || out.year % 400 == 0);
  constexpr std::array<int, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  out.day_of_year = kBefore[static_cast<std::size_t>(out.month - 1)] + out.day - 1 + (leap && out.month > 2 ? 1 : 0);
  return out;
}

std::string print_instant(const Instant& instant) {
  const Civil c = civil_of(instant.seconds + instant.zone * 60);
  std::string out = padded(c.year, 4) + "-" + padded(c.month, 2) + "-" + padded(c.day, 2) + "T" + padded(c.hour, 2) + ":" +
                    padded(c.minute, 2) + ":" + padded(c.second, 2) + fraction(instant.nanos);
  if (instant.zone == 0) return out + "Z";
  const int distance = instant.zone < 0 ? -instant.zone : instant.zone;
  return out + (instant.zone < 0 ? "-" : "+") + padded(distance / 60, 2) + ":" + padded(distance % 60, 2);
}

std::string print_seconds(std::int64_t nanoseconds) {
  // As Go's Duration.Seconds: whole seconds plus the rest as a double.
  const double seconds = static_cast<double>(nanoseconds / kNanos) + static_cast<double>(nanoseconds % kNanos) / 1e9;
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed).ptr;
  return std::string(text.data(), end) + "s";
}

namespace {

// Like strconv.Atoi.
std::optional<std::int64_t> read_number(std::string_view text, std::string& error) {
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  std::int64_t out = 0;
  const std::string_view digits = sign ? text.substr(1) : text;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || !is_digit(digits[0]) || problem == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    error = "strconv.Atoi: parsing \"" + std::string(text) + "\": invalid syntax";
    return std::nullopt;
  }
  if (problem != std::errc() || out > 1'000'000'000) {
    error = "strconv.Atoi: parsing \"" + std::string(text) + "\": value out of range";
    return std::nullopt;
  }
  return sign && text[0] == '-' ? -out : out;
}

}  // namespace

std::optional<std::int64_t> zone_offset(std::string_view zone, std::int64_t seconds, std::string& error) {
  const std::size_t colon = zone.find(':');
  if (colon == std::string_view::npos) return named_zone_offset(zone, seconds, error);
  const auto hours = read_number(zone.substr(0, colon), error);
  if (!hours) return std::nullopt;
  const auto minutes = read_number(zone.substr(colon + 1), error);
  if (!minutes) return std::nullopt;
  return (*hours * 60 + (zone[0] == '-' ? -*minutes : *minutes)) * 60;
}

}  // namespace backplane::cel_detail

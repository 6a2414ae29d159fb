#include "filters/go_duration.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

namespace backplane {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
// "µ" may be U+00B5 or U+03BC, as in Go.
constexpr std::array<Unit, 8> kUnits{
    {{"ns", 1}, {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<double> take_number(std::string_view& text) {
  double whole = 0;
  double scale = 1;
  bool digits = false;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !fraction)); ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    digits = true;
    whole = whole * 10 + (text[i] - '0');
    if (fraction) scale *= 10;
  }
  text.remove_prefix(i);
  return digits ? std::optional<double>(whole / scale) : std::nullopt;
}

std::string_view take_unit(std::string_view& text) {
  std::size_t i = 0;
  while (i < text.size() && text[i] != '.' && !is_digit(text[i])) ++i;
  const auto unit = text.substr(0, i);
  text.remove_prefix(i);
  return unit;
}

std::string trimmed(double value, const char* unit) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.9f", value);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + unit;
}

}  // namespace

Result<std::chrono::nanoseconds> parse_go_duration(std::string_view text) {
  const auto invalid = [&] { return bad_request("time: invalid duration " + quoted(text)); };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return std::chrono::nanoseconds{};
  if (rest.empty()) return invalid();
  double total = 0;
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return invalid();
    const std::string_view name = take_unit(rest);
    if (name.empty()) return bad_request("time: missing unit in duration " + quoted(text));
    double scale = 0;
    for (const auto& unit : kUnits) scale = unit.name == name ? unit.nanoseconds : scale;
    if (scale == 0) return bad_request("time: unknown unit " + quoted(name) + " in duration " + quoted(text));
    total += *number * scale;
  }
  if (total > static_cast<double>(std::numeric_limits<std::int64_t>::max())) return invalid();
  const auto nanoseconds = static_cast<std::int64_t>(std::llround(total));
  return std::chrono::nanoseconds(negative ? -nanoseconds : nanoseconds);
}

std::string format_go_duration(std::chrono::nanoseconds duration) {
  std::int64_t count = duration.count();
  if (count == 0) return "0s";
  std::string out = count < 0 ? "-" : "";
  if (count < 0) count = -count;
  if (count < 1000) return out + std::to_string(count) + "ns";
  if (count < 1'000'000) return out + trimmed(static_cast<double>(count) / 1e3, "\xC2\xB5s");
  if (count < 1'000'000'000) return out + trimmed(static_cast<double>(count) / 1e6, "ms");
  const std::int64_t minutes = count / 60'000'000'000;
  const double seconds = static_cast<double>(count % 60'000'000'000) / 1e9;
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  return out + trimmed(seconds, "s");
}

}  // namespace backplane

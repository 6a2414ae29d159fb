// Parses and prints durations like Go's time.Duration.
#include <array>
#include <charconv>

#include "backplane/core/status.hpp"
#include "text/go_time.hpp"

namespace backplane::schema {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};
constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                      {"us", 1000},
                                      {"\xC2\xB5s", 1000},  // micro sign
                                      {"\xCE\xBCs", 1000},  // Greek mu
                                      {"ms", 1000000},
                                      {"s", 1000000000},
                                      {"m", 60000000000},
                                      {"h", 3600000000000}}};
constexpr std::uint64_t kMost = std::uint64_t(1) << 63;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Digits with an optional fraction, in units of 1/scale.  False if there is no digit, or too many.
bool read_number(std::string_view& rest, std::uint64_t& whole, std::uint64_t& part, double& scale) {
  bool any = false;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), any = true) {
    if (whole > kMost / 10) return false;
    whole = whole * 10 + static_cast<std::uint64_t>(rest.front() - '0');
  }
  if (rest.empty() || rest.front() != '.') return any;
  rest.remove_prefix(1);
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), any = true) {
    if (part > (kMost - 1) / 10) continue;
    part = part * 10 + static_cast<std::uint64_t>(rest.front() - '0');
    scale *= 10;
  }
  return any;
}

void append_fraction(std::string& out, std::uint64_t value, std::uint64_t unit, std::string_view suffix) {
  out += std::to_string(value / unit);
  std::uint64_t rest = value % unit;
  if (rest != 0) {
    std::string digits = std::to_string(rest + unit).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    out += "." + digits;
  }
  out += suffix;
}

}  // namespace

std::optional<std::int64_t> parse_go_duration(std::string_view text, std::string& error) {
  auto invalid = [&]() -> std::optional<std::int64_t> {
    error = "time: invalid duration " + quoted(text);
    return std::nullopt;
  };
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return 0;
  if (rest.empty()) return invalid();
  std::uint64_t total = 0;
  while (!rest.empty()) {
    std::uint64_t whole = 0, part = 0;
    double scale = 1;
    if (!read_number(rest, whole, part, scale)) return invalid();
    std::size_t size = 0;
    while (size < rest.size() && rest[size] != '.' && !is_digit(rest[size])) ++size;
    if (size == 0) return error = "time: missing unit in duration " + quoted(text), std::nullopt;
    const std::string_view name = rest.substr(0, size);
    rest.remove_prefix(size);
    std::uint64_t unit = 0;
    for (const Unit& known : kUnits) {
      if (known.name == name) unit = known.nanos;
    }
    if (unit == 0) return error = "time: unknown unit " + quoted(name) + " in duration " + quoted(text), std::nullopt;
    if (whole > kMost / unit) return invalid();
    total += whole * unit + static_cast<std::uint64_t>(static_cast<double>(part) * (static_cast<double>(unit) / scale));
    if (total > kMost) return invalid();
  }
  if (!negative && total > kMost - 1) return invalid();
  return static_cast<std::int64_t>(negative ? ~total + 1 : total);
}

std::string print_go_duration(std::int64_t nanoseconds) {
  std::string out = nanoseconds < 0 ? "-" : "";
  std::uint64_t value = nanoseconds < 0 ? ~static_cast<std::uint64_t>(nanoseconds) + 1 : static_cast<std::uint64_t>(nanoseconds);
  constexpr std::uint64_t kSecond = 1000000000;
  if (value == 0) return "0s";
  if (value < 1000) return out + std::to_string(value) + "ns";
  if (value < kSecond) {
    const bool micro = value < 1000000;
    append_fraction(out, value, micro ? 1000 : 1000000, micro ? "\xC2\xB5s" : "ms");
    return out;
  }
  const std::uint64_t minutes = value / (60 * kSecond);
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  append_fraction(out, value % (60 * kSecond), kSecond, "s");
  return out;
}

}  // namespace backplane::schema

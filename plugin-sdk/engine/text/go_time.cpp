#include "text/go_time.hpp"

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroLayout = "2006-01-02T15:04:05.000000Z07:00";
constexpr std::string_view kLocalLayout = "2006-01-02T15:04:05";
constexpr std::string_view kDateLayout = "2006-01-02";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_leap(int year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int month, int year) noexcept {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
std::int64_t days_of(int year, int month, int day) noexcept {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

// Walks the text along the layout, as time.parse does.
class TimeReader {
 public:
  TimeReader(std::string_view text, std::string_view layout, std::string& error) noexcept
      : text_(text), rest_(text), layout_(layout), error_(error) {}

  std::optional<GoTime> read() {
    int year = 0, month = 0, day = 0;
    const bool fields = number(4, year, "2006") && literal('-') && number(2, month, "01") && in_range(month, 1, 12, "month") &&
                        literal('-') && number(2, day, "02") && (layout_ == kDateLayout || clock());
    if (!fields) return std::nullopt;
    if (!rest_.empty()) return fail("parsing time " + quoted(text_) + ": extra text: " + quoted(rest_));
    if (day < 1 || day > days_in(month, year)) return fail("parsing time " + quoted(text_) + ": day out of range");
    GoTime time;
    time.seconds = days_of(year, month, day) * 86400 + seconds_;
    time.nanos = nanos_;
    return time;
  }

 private:
  bool clock() {
    int hour = 0, minute = 0, second = 0;
    const bool fields = literal('T') && number(2, hour, "15") && in_range(hour, 0, 23, "hour") && literal(':') && number(2, minute, "04") &&
                        in_range(minute, 0, 59, "minute") && literal(':') && number(2, second, "05") && in_range(second, 0, 59, "second") &&
                        fraction() && (layout_ == kLocalLayout || zone());
    seconds_ = hour * 3600 + minute * 60 + second - offset_;
    return fields;
  }
  std::nullopt_t fail(std::string message) {
    error_ = std::move(message);
    return std::nullopt;
  }
  bool cannot(std::string_view element) {
    error_ = "parsing time " + quoted(text_) + " as " + quoted(layout_) + ": cannot parse " + quoted(rest_) + " as " + quoted(element);
    return false;
  }
  bool in_range(int value, int low, int high, std::string_view name) {
    if (value >= low && value <= high) return true;
    error_ = "parsing time " + quoted(text_) + ": " + std::string(name) + " out of range";
    return false;
  }
  bool literal(char c) {
    if (rest_.empty() || rest_.front() != c) return cannot(std::string_view(&c, 1));
    rest_.remove_prefix(1);
    return true;
  }
  bool number(std::size_t digits, int& out, std::string_view element) {
    if (rest_.size() < digits) return cannot(element);
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest_[i])) return cannot(element);
      out = out * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }
  // Plain layouts accept any fraction; the micro layout requires six digits.
  bool fraction() {
    std::size_t count = 0;
    const bool point = !rest_.empty() && (rest_[0] == '.' || rest_[0] == ',');
    while (point && 1 + count < rest_.size() && is_digit(rest_[1 + count])) ++count;
    if (layout_ == kMicroLayout) {
      if (!point || count < 6) return cannot(".000000");
      count = 6;
    } else if (count == 0) {
      return true;
    }
    int scale = 100000000;
    for (std::size_t i = 1; i <= count; ++i, scale /= 10) nanos_ += (rest_[i] - '0') * scale;
    rest_.remove_prefix(1 + count);
    return true;
  }
  bool zone() {
    if (!rest_.empty() && rest_.front() == 'Z') {
      rest_.remove_prefix(1);
      return true;
    }
    constexpr std::string_view kElement = "Z07:00";
    const bool shape =
        rest_.size() >= 6 && rest_[3] == ':' && is_digit(rest_[1]) && is_digit(rest_[2]) && is_digit(rest_[4]) && is_digit(rest_[5]);
    if (!shape || (rest_[0] != '+' && rest_[0] != '-')) return cannot(kElement);
    const int hours = (rest_[1] - '0') * 10 + (rest_[2] - '0');
    const int minutes = (rest_[4] - '0') * 10 + (rest_[5] - '0');
    if (!in_range(hours, 0, 24, "time zone offset hour") || !in_range(minutes, 0, 60, "time zone offset minute")) return false;
    offset_ = (hours * 60 + minutes) * 60 * (rest_[0] == '-' ? -1 : 1);
    rest_.remove_prefix(6);
    return true;
  }

  std::string_view text_, rest_, layout_;
  std::string& error_;
  std::int64_t seconds_ = 0;  // of the day, less the offset
  std::int64_t offset_ = 0;
  std::int32_t nanos_ = 0;
};

}  // namespace

std::optional<GoTime> parse_go_time(std::string_view text, bool micro, std::string& error) {
  return TimeReader(text, micro ? kMicroLayout : kLayout, error).read();
}
std::optional<GoTime> parse_go_local_time(std::string_view text, std::string& error) {
  return TimeReader(text, kLocalLayout, error).read();
}
std::optional<GoTime> parse_go_date(std::string_view text, std::string& error) { return TimeReader(text, kDateLayout, error).read(); }

std::string print_go_time(const GoTime& time, bool micro) {
  std::string text = format_rfc3339(time.seconds);
  if (!micro) return text;
  std::string digits = std::to_string(time.nanos / 1000);
  text.insert(text.size() - 1, "." + std::string(6 - digits.size(), '0') + digits);
  return text;
}

bool is_canonical_time(std::string_view text, bool micro) noexcept {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
  constexpr std::string_view kMicroShape = "dddd-dd-ddTdd:dd:dd.ddddddZ";
  const std::string_view shape = micro ? kMicroShape : kShape;
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != shape[i]) return false;
  }
  auto two = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  // Days past the 28th need the calendar: leave them to the parser.
  return two(5) >= 1 && two(5) <= 12 && two(8) >= 1 && two(8) <= 28 && two(11) < 24 && two(14) < 60 && two(17) < 60;
}

}  // namespace backplane::schema

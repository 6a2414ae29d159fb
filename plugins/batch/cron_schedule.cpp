#include "cron_schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/durations.hpp"
#include "split.hpp"
#include "time_zones.hpp"

namespace backplane::batch {
namespace {

struct Field {
  std::int64_t least, most;
  std::array<std::string_view, 12> names;  // of the numbers from `least` on
};
constexpr Field kFields[] = {
    {0, 59, {}},
    {0, 23, {}},
    {1, 31, {}},
    {1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
    {0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
};
constexpr std::string_view kWords[] = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"};
constexpr std::string_view kUnits[] = {"ns", "us", "\xC2\xB5s", "\xCE\xBCs", "ms", "s", "m", "h"};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const auto begin = std::find_if_not(text.begin(), text.end(), is_blank);
    const auto end = std::find_if(begin, text.end(), is_blank);
    if (begin == end) return out;
    out.push_back(text.substr(static_cast<std::size_t>(begin - text.begin()), static_cast<std::size_t>(end - begin)));
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
}

// Parses a number of one field; returns the error.
std::string read_number(std::string_view text, std::int64_t& out) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && is_digit(digits[1])) digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  const bool whole = !digits.empty() && end == digits.data() + digits.size();
  if (!whole || error == std::errc::invalid_argument || error == std::errc::result_out_of_range) {
    const std::string_view why = whole && error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax";
    return "failed to parse int from " + std::string(text) + ": strconv.Atoi: parsing " + quoted(text) + ": " + std::string(why);
  }
  return out < 0 ? "negative number (" + std::to_string(out) + ") not allowed: " + std::string(text) : std::string();
}

std::string read_number_or_name(std::string_view text, const Field& field, std::int64_t& out) {
  const std::string lower = lower_case(text);
  const auto name = std::find(field.names.begin(), field.names.end(), lower);
  if (lower.empty() || name == field.names.end()) return read_number(text, out);
  out = field.least + (name - field.names.begin());
  return {};
}

// Returns the problem of "*", "5" or "1-5", each with an optional "/2"; empty: there is none.
std::string range_problem(std::string_view text, const Field& field) {
  const auto parts = split(text, '/');
  const auto ends = split(parts[0], '-');
  std::int64_t first = field.least, last = field.most, step = 1;
  if (ends[0] != "*" && ends[0] != "?") {
    std::string problem = read_number_or_name(ends[0], field, first);
    if (!problem.empty()) return problem;
    if (ends.size() > 2) return "too many hyphens: " + std::string(text);
    last = first;
    if (ends.size() == 2) problem = read_number_or_name(ends[1], field, last);
    if (!problem.empty()) return problem;
  }
  if (parts.size() > 2) return "too many slashes: " + std::string(text);
  if (parts.size() == 2) {
    std::string problem = read_number(parts[1], step);
    if (!problem.empty()) return problem;
    if (ends.size() == 1) last = field.most;
  }
  const auto bounds = [&](const char* what, std::int64_t number, const char* relation, std::int64_t bound) {
    return std::string(what) + " of range (" + std::to_string(number) + ") " + relation + " (" + std::to_string(bound) +
           "): " + std::string(text);
  };
  if (first < field.least) return bounds("beginning", first, "below minimum", field.least);
  if (last > field.most) return bounds("end", last, "above maximum", field.most);
  if (first > last) return bounds("beginning", first, "beyond end of range", last);
  return step == 0 ? "step of range should be a positive number: " + std::string(text) : std::string();
}

std::string field_problem(std::string_view text, const Field& field) {
  for (std::string_view range : split(text, ',')) {
    std::string problem = range.empty() ? std::string() : range_problem(range, field);
    if (!problem.empty()) return problem;
  }
  return {};
}

// The error of time.ParseDuration for an invalid text.
std::string duration_problem(std::string_view text) {
  const std::string invalid = "time: invalid duration " + quoted(text);
  std::string_view rest = text;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  while (!rest.empty()) {
    const auto number = std::find_if_not(rest.begin(), rest.end(), [](char c) { return is_digit(c) || c == '.'; });
    const std::string_view digits = rest.substr(0, static_cast<std::size_t>(number - rest.begin()));
    if (std::none_of(digits.begin(), digits.end(), is_digit)) return invalid;
    // A second point ends the number, and begins a unit of no letters.
    const std::size_t point = digits.find('.');
    const std::size_t second = point == std::string_view::npos ? point : digits.find('.', point + 1);
    rest.remove_prefix(std::min(second, digits.size()));
    const auto end = std::find_if(rest.begin(), rest.end(), [](char c) { return is_digit(c) || c == '.'; });
    const std::string_view unit = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    if (unit.empty()) return "time: missing unit in duration " + quoted(text);
    if (std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits)) {
      return "time: unknown unit " + quoted(unit) + " in duration " + quoted(text);
    }
    rest.remove_prefix(unit.size());
  }
  return invalid;
}

std::string word_problem(std::string_view word) {
  if (std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords)) return {};
  constexpr std::string_view kEvery = "@every ";
  if (!word.starts_with(kEvery)) return "unrecognized descriptor: " + std::string(word);
  if (parse_duration(word.substr(kEvery.size()))) return {};
  return "failed to parse duration " + std::string(word) + ": " + duration_problem(word.substr(kEvery.size()));
}

// Removes a leading time zone, and returns its error; empty: there is none.
std::string take_zone(std::string_view& schedule) {
  if (!schedule.starts_with("TZ=") && !schedule.starts_with("CRON_TZ=")) return {};
  const std::size_t blank = schedule.find(' '), begin = schedule.find('=') + 1;
  if (blank == std::string_view::npos) return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
  const std::string zone(schedule.substr(begin, blank - begin));
  if (const std::string problem = time_zone_problem(zone); !problem.empty()) return "provided bad location " + zone + ": " + problem;
  while (!schedule.empty() && !is_blank(schedule[0])) schedule.remove_prefix(1);
  while (!schedule.empty() && is_blank(schedule.front())) schedule.remove_prefix(1);
  while (!schedule.empty() && is_blank(schedule.back())) schedule.remove_suffix(1);
  return {};
}

}  // namespace

std::string schedule_problem(std::string_view schedule) {
  if (schedule.empty()) return "empty spec string";
  std::string problem = take_zone(schedule);
  if (!problem.empty()) return problem;
  if (schedule.starts_with('@')) return word_problem(schedule);
  const auto words = words_of(schedule);
  if (words.size() != std::size(kFields)) {
    std::string list;
    for (std::string_view word : words) list.append(list.empty() ? "" : " ").append(word);
    return "expected exactly 5 fields, found " + std::to_string(words.size()) + ": [" + list + "]";
  }
  for (std::size_t i = 0; i < words.size() && problem.empty(); ++i) problem = field_problem(words[i], kFields[i]);
  return problem;
}

}  // namespace backplane::batch

#include "index_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "backplane/core/status.hpp"
#include "split.hpp"

namespace backplane::batch {
namespace {

struct Interval {
  std::int64_t first = 0, last = 0;
};

std::string read_index(std::string_view text, std::int64_t completions, std::int64_t& out) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+') digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size()) return "cannot convert string to integer for index: " + quoted(text);
  return out >= completions ? "too large index: " + quoted(text) : std::string();
}

std::string out_of_order(std::int64_t previous, std::int64_t current) {
  return "non-increasing order, previous: " + std::to_string(previous) + ", current: " + std::to_string(current);
}

std::string read_interval(std::string_view text, std::int64_t completions, Interval& out) {
  const auto ends = split(text, '-');
  if (ends.size() > 2) {
    return "the fragment " + quoted(text) + " violates the requirement that an index interval can have at most two parts separated by '-'";
  }
  std::string problem = read_index(ends[0], completions, out.first);
  out.last = out.first;
  if (!problem.empty() || ends.size() == 1) return problem;
  problem = read_index(ends[1], completions, out.last);
  if (problem.empty() && out.first >= out.last) problem = out_of_order(out.first, out.last);
  return problem;
}

std::vector<Interval> readable(std::string_view text, std::int64_t completions) {
  std::vector<Interval> out;
  for (std::string_view part : split(text, ',')) {
    Interval interval;
    if (read_interval(part, completions, interval).empty()) out.push_back(interval);
  }
  return out;
}

}  // namespace

IndexCount count_indexes(std::string_view text, std::int64_t completions) {
  IndexCount out;
  if (text.empty()) return out;
  std::optional<std::int64_t> last;
  for (std::string_view part : split(text, ',')) {
    Interval interval;
    std::string problem = read_interval(part, completions, interval);
    if (problem.empty() && last && *last >= interval.first) problem = out_of_order(*last, interval.first);
    if (!problem.empty()) return {0, std::move(problem)};
    out.total += interval.last - interval.first + 1;
    last = interval.last;
  }
  return out;
}

std::optional<std::int64_t> common_index(std::string_view completed, std::string_view failed, std::int64_t completions) {
  const auto left = readable(completed, completions), right = readable(failed, completions);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].first <= right[j].last && right[j].first <= left[i].last) return std::max(left[i].first, right[j].first);
    if (left[i].first <= right[j].first) {
      ++i;
    } else {
      ++j;
    }
  }
  return std::nullopt;
}

}  // namespace backplane::batch

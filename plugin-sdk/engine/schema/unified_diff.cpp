#include "schema/unified_diff.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace backplane::schema {
namespace {

constexpr std::size_t kContext = 3;
// difflib's rule: in texts of 200 lines and more, lines that make up more than a hundredth of the text are not used for the alignment.
constexpr std::size_t kLongText = 200;
constexpr std::size_t kPopularShare = 100;

using Lines = std::vector<std::string>;

struct Block {
  std::size_t a, b, size;
};
// A run of lines that is the same on both sides, or was replaced (either side may be empty).
struct Step {
  bool same;
  std::size_t a1, a2, b1, b2;
};

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (std::size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    if (b.size() < kLongText) return;
    std::erase_if(places_, [&](const auto& place) { return place.second.size() > b.size() / kPopularShare + 1; });
  }

  // nullopt if it takes too many steps.
  std::optional<std::vector<Step>> steps() {
    const std::vector<Block> found = blocks();
    if (steps_left_ == 0) return std::nullopt;
    std::vector<Step> out;
    std::size_t i = 0;
    std::size_t j = 0;
    for (const Block& block : found) {
      if (i < block.a || j < block.b) out.push_back({false, i, block.a, j, block.b});
      i = block.a + block.size;
      j = block.b + block.size;
      if (block.size > 0) out.push_back({true, block.a, i, block.b, j});
    }
    return out;
  }

 private:
  struct Range {
    std::size_t a1, a2, b1, b2;
  };

  // Matching blocks in order; adjacent ones are merged.  The last is empty, at the end.
  std::vector<Block> blocks() {
    std::vector<Block> found;
    std::vector<Range> open{{0, a_.size(), 0, b_.size()}};
    while (!open.empty() && steps_left_ > 0) {
      const Range range = open.back();
      open.pop_back();
      const Block block = longest(range);
      if (block.size == 0) continue;
      found.push_back(block);
      if (range.a1 < block.a && range.b1 < block.b) open.push_back({range.a1, block.a, range.b1, block.b});
      const Range after{block.a + block.size, range.a2, block.b + block.size, range.b2};
      if (after.a1 < after.a2 && after.b1 < after.b2) open.push_back(after);
    }
    std::sort(found.begin(), found.end(), [](const Block& x, const Block& y) { return x.a < y.a; });
    std::vector<Block> joined;
    for (const Block& block : found) {
      if (!joined.empty() && joined.back().a + joined.back().size == block.a && joined.back().b + joined.back().size == block.b) {
        joined.back().size += block.size;
      } else {
        joined.push_back(block);
      }
    }
    joined.push_back({a_.size(), b_.size(), 0});
    return joined;
  }

  // The longest run of lines in both ranges, the first of several; then extended outwards as far as the lines are equal.
  Block longest(const Range& range) {
    Block best{range.a1, range.b1, 0};
    std::unordered_map<std::size_t, std::size_t> before;  // end of a run in b that ends at the previous line of a → the run's length
    for (std::size_t i = range.a1; i < range.a2 && use_step(); ++i) {
      std::unordered_map<std::size_t, std::size_t> now;
      const auto places = places_.find(a_[i]);
      if (places != places_.end()) {
        const auto& at = places->second;
        for (auto j = std::lower_bound(at.begin(), at.end(), range.b1); j != at.end() && *j < range.b2 && use_step(); ++j) {
          const auto run = *j > 0 ? before.find(*j - 1) : before.end();
          const std::size_t length = (run == before.end() ? 0 : run->second) + 1;
          now[*j] = length;
          if (length > best.size) best = {i + 1 - length, *j + 1 - length, length};
        }
      }
      before = std::move(now);
    }
    while (best.a > range.a1 && best.b > range.b1 && a_[best.a - 1] == b_[best.b - 1]) best = {best.a - 1, best.b - 1, best.size + 1};
    while (best.a + best.size < range.a2 && best.b + best.size < range.b2 && a_[best.a + best.size] == b_[best.b + best.size]) ++best.size;
    return best;
  }

  bool use_step() noexcept { return steps_left_ > 0 && --steps_left_ > 0; }

  const Lines& a_;
  const Lines& b_;
  std::size_t steps_left_ = kMostDiffSteps;
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;
};

// Splits at long runs without a change, and keeps the context on both sides.
std::vector<std::vector<Step>> groups_of(std::vector<Step> steps) {
  const auto cut_front = [](Step& step) {
    step.a1 = std::max(step.a1, step.a2 - std::min(step.a2, kContext));
    step.b1 = std::max(step.b1, step.b2 - std::min(step.b2, kContext));
  };
  const auto cut_back = [](Step& step) {
    step.a2 = std::min(step.a2, step.a1 + kContext);
    step.b2 = std::min(step.b2, step.b1 + kContext);
  };
  if (!steps.empty() && steps.front().same) cut_front(steps.front());
  if (!steps.empty() && steps.back().same) cut_back(steps.back());
  std::vector<std::vector<Step>> groups(1);
  for (Step step : steps) {
    if (step.same && step.a2 - step.a1 > 2 * kContext) {
      Step end = step;
      cut_back(end);
      groups.back().push_back(end);
      groups.emplace_back();
      cut_front(step);
    }
    groups.back().push_back(step);
  }
  std::erase_if(groups, [](const auto& group) { return group.empty() || (group.size() == 1 && group.front().same); });
  return groups;
}

std::string range_text(std::size_t start, std::size_t stop) {
  const std::size_t length = stop - start;
  if (length == 1) return std::to_string(start + 1);
  return std::to_string(length == 0 ? start : start + 1) + "," + std::to_string(length);
}

void add(std::string& out, char sign, const Lines& lines, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    out += sign;
    out += lines[i];
    out += '\n';
  }
}

}  // namespace

std::string unified_diff(const Lines& before, const Lines& after) {
  if (before.size() > kMostDiffLines || after.size() > kMostDiffLines) return {};
  auto steps = Matcher(before, after).steps();
  if (!steps) return {};
  std::string out;
  for (const auto& group : groups_of(std::move(*steps))) {
    const Step& first = group.front();
    const Step& last = group.back();
    out += "@@ -" + range_text(first.a1, last.a2) + " +" + range_text(first.b1, last.b2) + " @@\n";
    for (const Step& step : group) {
      if (step.same) {
        add(out, ' ', before, step.a1, step.a2);
      } else {
        add(out, '-', before, step.a1, step.a2);
        add(out, '+', after, step.b1, step.b2);
      }
    }
  }
  return out;
}

}  // namespace backplane::schema

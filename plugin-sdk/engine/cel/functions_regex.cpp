// Patterns: RE2 with the syntax of Go's regexp.
#include <re2/re2.h>

#include <memory>
#include <optional>
#include <vector>

#include "cel/functions.hpp"
#include "cel/text.hpp"
#include "text/regexp.hpp"
#include "text/utf8.hpp"

namespace backplane::cel_detail {
namespace {

// The pattern of a call: precompiled in the program, or compiled for this call.
class Pattern {
 public:
  explicit Pattern(Call& call) : pattern_(call.pattern) {
    if (pattern_ != nullptr) return;
    made_ = schema::compile_regexp(call.text(1), problem_);
    pattern_ = made_.get();
  }
  bool ok() const noexcept { return pattern_ != nullptr; }
  const std::string& problem() const noexcept { return problem_; }
  const re2::RE2& operator*() const noexcept { return *pattern_; }

 private:
  const re2::RE2* pattern_;
  std::unique_ptr<const re2::RE2> made_;
  std::string problem_;
};

using Groups = std::vector<re2::StringPiece>;

// All matches in Go's order: an empty match directly after another match is skipped.
class Matches {
 public:
  Matches(const re2::RE2& pattern, std::string_view text)
      : pattern_(pattern), text_(text), groups_(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1) {}

  const Groups* next() {
    while (at_ <= text_.size()) {
      const re2::StringPiece text(text_.data(), text_.size());
      if (!pattern_.Match(text, at_, text_.size(), re2::RE2::UNANCHORED, groups_.data(), static_cast<int>(groups_.size()))) break;
      const std::size_t begin = static_cast<std::size_t>(groups_[0].data() - text_.data()), end = begin + groups_[0].size();
      const bool empty_after_match = begin == end && end == before_;
      if (end > at_) {
        at_ = end;
      } else {
        at_ += at_ < text_.size() ? decode_rune(text_.substr(at_)).size : 1;
      }
      before_ = end;
      if (!empty_after_match) return &groups_;
    }
    at_ = text_.size() + 1;
    return nullptr;
  }

 private:
  const re2::RE2& pattern_;
  std::string_view text_;
  Groups groups_;
  std::size_t at_ = 0;
  std::size_t before_ = std::string_view::npos;
};

std::string_view view(const re2::StringPiece& piece) noexcept { return {piece.data(), piece.size()}; }

Val illegal(Call& call, const Pattern& pattern) { return error_val(call.arena, "Illegal regex: " + pattern.problem()); }

Val texts(Arena& arena, const std::vector<std::string_view>& parts) {
  Val* items = arena.allocate<Val>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) items[i] = string_val(parts[i]);
  return list_val(items, parts.size());
}

Val matches(Call& call) {
  const Pattern pattern(call);
  if (!pattern.ok()) return error_val(call.arena, pattern.problem());
  return bool_val(schema::finds(*pattern, call.text(0)));
}

Val find(Call& call) {
  const Pattern pattern(call);
  if (!pattern.ok()) return illegal(call, pattern);
  Matches all(*pattern, call.text(0));
  const Groups* groups = all.next();
  return string_val(groups == nullptr ? std::string_view() : view((*groups)[0]));
}

Val find_all(Call& call) {
  const Pattern pattern(call);
  if (!pattern.ok()) return illegal(call, pattern);
  const std::int64_t limit = call.size() > 2 ? call[2].integer : -1;
  std::vector<std::string_view> found;
  Matches all(*pattern, call.text(0));
  while (limit < 0 || static_cast<std::int64_t>(found.size()) < limit) {
    const Groups* groups = all.next();
    if (groups == nullptr) break;
    found.push_back(view((*groups)[0]));
  }
  return texts(call.arena, found);
}

// ---- cel-go's own

Val invalid(Call& call, const Pattern& pattern) { return error_val(call.arena, "given regex is invalid: " + pattern.problem()); }

Val too_many_groups(Call& call) {
  return error_val(call.arena, "regular expression has more than one capturing group: " + quoted(call.text(1)));
}

// Expands \0 to \9 in a replacement.
std::optional<std::string> expand(const Groups& groups, std::string_view with, std::string& error) {
  std::string out;
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (with[i] != '\\') {
      out.push_back(with[i]);
      continue;
    }
    const std::string invalid = "invalid replacement string: '" + std::string(with) + "' \\ ";
    if (++i >= with.size()) return error = invalid + "not allowed at end", std::nullopt;
    if (with[i] == '\\') {
      out.push_back('\\');
      continue;
    }
    if (with[i] < '0' || with[i] > '9') return error = invalid + "must be followed by a digit or \\", std::nullopt;
    const auto group = static_cast<std::size_t>(with[i] - '0');
    if (group >= groups.size()) {
      error = "replacement string references group " + std::to_string(group) + " but regex has only " + std::to_string(groups.size() - 1) +
              " group(s)";
      return std::nullopt;
    }
    out.append(view(groups[group]));
  }
  return out;
}

Val replace(Call& call) {
  std::int64_t left = call.size() > 3 ? call[3].integer : -1;
  if (left == 0) return call[0];
  if (left > 2147483647) return error_val("integer overflow");
  const Pattern pattern(call);
  if (!pattern.ok()) return error_val(call.arena, pattern.problem());
  const std::string_view text = call.text(0);
  std::string out, error;
  std::size_t at = 0;
  Matches all(*pattern, text);
  for (; left != 0; --left) {
    const Groups* groups = all.next();
    if (groups == nullptr) break;
    const auto piece = expand(*groups, call.text(2), error);
    if (!piece) return error_val(call.arena, error);
    const auto begin = static_cast<std::size_t>((*groups)[0].data() - text.data());
    call.arena.expect(out.size() + piece->size());
    out.append(text.substr(at, begin - at)).append(*piece);
    at = begin + (*groups)[0].size();
  }
  out.append(text.substr(at));
  return kept_string(call.arena, out);
}

Val extract(Call& call) {
  const Pattern pattern(call);
  if (!pattern.ok()) return invalid(call, pattern);
  if ((*pattern).NumberOfCapturingGroups() > 1) return too_many_groups(call);
  Matches all(*pattern, call.text(0));
  const Groups* groups = all.next();
  if (groups == nullptr || (groups->size() > 1 && groups->back().empty())) return none_val();
  return some_val(call.arena, string_val(view(groups->back())));
}

Val extract_all(Call& call) {
  const Pattern pattern(call);
  if (!pattern.ok()) return invalid(call, pattern);
  if ((*pattern).NumberOfCapturingGroups() > 1) return too_many_groups(call);
  std::vector<std::string_view> found;
  Matches all(*pattern, call.text(0));
  while (const Groups* groups = all.next()) {
    if (groups->size() == 1 || !groups->back().empty()) found.push_back(view(groups->back()));
  }
  return texts(call.arena, found);
}

constexpr Implementation kFunctions[] = {
    {"matches", matches},
    {"matches_string", matches},
    {"string_find_string", find},
    {"string_find_all_string", find_all},
    {"string_find_all_string_int", find_all},
    {"regex_replace_string_string_string", replace},
    {"regex_replace_string_string_string_int", replace},
    {"regex_extract_string_string", extract},
    {"regex_extractAll_string_string", extract_all},
};

}  // namespace

std::span<const Implementation> regex_functions() { return kFunctions; }

}  // namespace backplane::cel_detail

#include "backplane/kit/semantic_version.hpp"

#include <algorithm>
#include <charconv>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

// A number as semantic versions have them: without zeros in front.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool good = !text.empty() && error == std::errc() && end == text.data() + text.size() && (text.size() == 1 || text[0] != '0');
  return good ? std::optional(out) : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool are_words(const std::vector<std::string_view>& words, bool numbers_are_checked) {
  const auto good = [&](std::string_view word) {
    const auto allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
    const bool digits = word.find_first_not_of("0123456789") == std::string_view::npos;
    return !word.empty() && std::all_of(word.begin(), word.end(), allowed) && (!digits || !numbers_are_checked || number_of(word));
  };
  return std::all_of(words.begin(), words.end(), good);
}

}  // namespace

std::optional<SemanticVersion> SemanticVersion::parse(std::string_view text) {
  SemanticVersion out;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    if (!are_words(parts_of(text.substr(plus + 1), '.'), false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    out.prerelease = parts_of(text.substr(dash + 1), '.');
    if (!are_words(out.prerelease, true)) return std::nullopt;
    text = text.substr(0, dash);
  }
  const auto numbers = parts_of(text, '.');
  if (numbers.size() != out.numbers.size()) return std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = number_of(numbers[i]);
    if (!number) return std::nullopt;
    out.numbers[i] = *number;
  }
  return out;
}

bool SemanticVersion::operator<(const SemanticVersion& other) const {
  if (numbers != other.numbers) return numbers < other.numbers;
  if (prerelease.empty() || other.prerelease.empty()) return !prerelease.empty() && other.prerelease.empty();
  // Numbers stand before words.
  const auto before = [](std::string_view a, std::string_view b) {
    const auto one = number_of(a), two = number_of(b);
    if (one && two) return *one < *two;
    return one.has_value() != two.has_value() ? one.has_value() : a < b;
  };
  return std::lexicographical_compare(prerelease.begin(), prerelease.end(), other.prerelease.begin(), other.prerelease.end(), before);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

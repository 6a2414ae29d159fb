#include "endpoints/applied_json.hpp"

#include <algorithm>

#include "backplane/types/schema.hpp"

namespace backplane::endpoints {
namespace {

// A YAML parser searches the colon after a name within 1024 characters.
constexpr std::size_t kLongName = 500;  // each character may be an escape of two characters

// Returns false for tabs, line breaks and characters outside ASCII. YAML gives the first two a meaning, and refuses some of the others.
bool plain(char c) noexcept { return c >= 0x20 && c < 0x7F; }

// Returns false if the text has escapes that YAML lacks or interprets differently, or the name "<<", which is YAML's merge key.
bool is_same_in_yaml(std::string_view text) noexcept {
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 2)) {
    if (at + 1 == text.size() || std::string_view("\"\\bfnrt").find(text[at + 1]) == std::string_view::npos) return false;
  }
  return text.find("\"<<\"") == std::string_view::npos;
}

// Returns false if the value contains a double: YAML reads 1.0 as an integer.
bool is_same_in_yaml(const Value& value) {
  if (value.is_double()) return false;
  if (value.is_array()) {
    return std::all_of(value.get_array().begin(), value.get_array().end(), [](const Value& item) { return is_same_in_yaml(item); });
  }
  if (!value.is_object()) return true;
  return std::all_of(value.get_object().begin(), value.get_object().end(),
                     [](const auto& member) { return member.key().size() < kLongName && is_same_in_yaml(member.value()); });
}

}  // namespace

std::optional<Value> read_json_of_yaml(std::string_view text, const json::storage_ptr& storage) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!text.starts_with('{') || !std::all_of(text.begin(), text.end(), plain) || !is_same_in_yaml(text)) return std::nullopt;
  DecodeReport report;
  report.merge_duplicates = false;
  auto tree = parse_json(text, storage, &report);
  if (!tree.ok() || !report.problems.empty() || !is_same_in_yaml(*tree)) return std::nullopt;
  return std::move(*tree);
}

}  // namespace backplane::endpoints

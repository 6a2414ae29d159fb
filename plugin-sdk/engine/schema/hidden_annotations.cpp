#include "schema/hidden_annotations.hpp"

#include <charconv>
#include <cstdint>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/json_reading.hpp"
#include "schema/scan.hpp"
#include "schema/type.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kWord = "x-backplane-hidden-annotations";
constexpr std::string_view kNumbers = "x-backplane-number-annotations";
constexpr std::string_view kNumberText = "x-backplane-number-text";

// The value of x-backplane-hidden-annotations as JSON, a list of texts; empty for most kinds.  It is read for every object of a list, so
// the keyword is the first member of a definition.
SharedBytes word_of(const Schema& schema) {
  const auto* type = schema.structural() ? nullptr : schema.compiled();
  if (type == nullptr) return {};
  const SharedBytes text = type->text();
  Scanner members(text.view());
  std::string_view key;
  if (!members.enter('{') || !members.next_key(key) || key != kWord) return {};
  const std::size_t begin = members.begin();
  return text.slice(begin, members.value().size());
}

// The values of the keywords that follow x-backplane-hidden-annotations.
struct NumberWords {
  std::string_view names;  // the list of names as JSON
  std::string before;      // the beginning of each problem; if it is not empty, empty annotations are skipped
};
// `text`: the JSON of the definition.
NumberWords numbers_in(std::string_view text) {
  Scanner members(text);
  std::string_view key;
  if (!members.enter('{') || !members.next_key(key) || key != kWord) return {};
  members.value();
  if (!members.next_key(key) || key != kNumbers) return {};
  NumberWords out{members.value(), {}};
  if (!members.next_key(key) || key != kNumberText) return out;
  const std::string_view before = members.value();
  out.before = before.substr(1, before.size() - 2);
  return out;
}

// The text with {name} and {value} replaced.
std::string filled(std::string text, std::string_view name, std::string_view value) {
  const auto put = [&](std::string_view mark, std::string_view with) {
    const auto at = text.find(mark);
    if (at != std::string::npos) text.replace(at, mark.size(), with);
  };
  put("{name}", name);
  put("{value}", value);
  return text;
}

// The error of strconv.ParseInt; empty: valid.
std::string number_problem(std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = end == digits.data() + digits.size() && !(text.starts_with('+') && digits.starts_with('-'));
  if (error == std::errc() && whole) return {};
  const bool large = error == std::errc::result_out_of_range && whole;
  return "strconv.ParseInt: parsing " + quoted(text) + (large ? ": value out of range" : ": invalid syntax");
}

// Calls `found` with each name, in quotes, until it returns true; returns whether it did.
template <class Found>
bool any_name(std::string_view word, Found found) {
  Scanner names(word);
  if (word.empty() || !names.enter('[')) return false;
  while (names.next_item()) {
    if (found(names.value())) return true;
  }
  return false;
}

}  // namespace

std::string hidden_annotation_problem(const Type& type, const Value& object) {
  const SharedBytes text = type.text();
  const NumberWords words = numbers_in(text.view());
  if (words.names.empty() || !object.is_object()) return {};
  const Object& annotations = object_or_empty(object_or_empty(object.get_object(), "metadata"), "annotations");
  std::string problem;
  any_name(words.names, [&](std::string_view quoted_name) {
    const std::string_view name = quoted_name.substr(1, quoted_name.size() - 2);
    const Value* found = find(annotations, name);
    if (found == nullptr || !found->is_string()) return false;
    const std::string_view value = backplane::text_of(*found);
    if (value.empty() && !words.before.empty()) return false;
    problem = number_problem(value);
    if (!problem.empty()) problem.insert(0, filled(words.before, name, value));
    return !problem.empty();
  });
  return problem;
}

bool has_hidden_annotations(const Schema* schema, std::string_view metadata) {
  if (schema == nullptr) return false;
  return any_name(word_of(*schema).view(), [&](std::string_view name) { return metadata.find(name) != std::string_view::npos; });
}

std::string without_hidden_annotations(const Schema& schema, std::string_view metadata) {
  std::optional<Value> tree = read_json(metadata);
  if (!tree || !tree->is_object()) return std::string(metadata);
  Value* annotations = find(tree->get_object(), "annotations");
  if (annotations == nullptr || !annotations->is_object()) return std::string(metadata);
  any_name(word_of(schema).view(), [&](std::string_view name) {
    erase_member(annotations->get_object(), name.substr(1, name.size() - 2));
    return false;
  });
  if (annotations->get_object().empty()) erase_member(tree->get_object(), "annotations");
  return to_json(*tree);
}

}  // namespace backplane::schema

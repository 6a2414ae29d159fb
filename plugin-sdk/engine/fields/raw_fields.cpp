#include "engine/raw_fields.hpp"

#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

bool level_in_order(WireReader& reader, std::size_t depth) {
  if (depth > FieldSet::kMaxDepth) reader.fail();
  if (!reader.ok() || !reader.enter()) return reader.ok();
  std::string last;
  for (std::string_view name; reader.next(name);) {
    if (!last.empty() && name <= last) return false;
    last = name;
    if (!level_in_order(reader, depth + 1)) return false;
  }
  return reader.ok();
}

bool take(std::string_view& text, std::string_view expected) noexcept {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take(std::string_view& text, char expected) noexcept {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// Compares the text between quotes with `value` after escaping its quotes and backslashes.
bool take_escaped(std::string_view& text, std::string_view value) noexcept {
  for (const char c : value) {
    if ((c == '"' || c == '\\') && !take(text, '\\')) return false;
    if (!take(text, c)) return false;
  }
  return true;
}

// Removes the JSON of `value` from the beginning of the text. Quotes and backslashes are compared in place; a value with other escapes is
// compared with a copy of its JSON.
bool take_string(std::string_view& text, std::string_view value) {
  std::string_view rest = text;
  const bool plain = value.find('"') == std::string_view::npos && value.find('\\') == std::string_view::npos;
  if (take(rest, '"') && (plain ? take(rest, value) : take_escaped(rest, value)) && take(rest, '"')) {
    text = rest;
    return true;
  }
  std::string escaped;
  append_json_string(escaped, value);
  return take(text, escaped);
}

bool take_value(std::string_view& text, const Value& value) {
  if (const std::string_view raw = text_of_raw(value); !raw.empty()) return take(text, raw);
  if (value.is_string()) return take_string(text, value.get_string());
  if (value.is_object()) {
    char lead = '{';
    for (const auto& member : value.get_object()) {
      if (!take(text, std::exchange(lead, ',')) || !take_string(text, member.key()) || !take(text, ':')) return false;
      if (!take_value(text, member.value())) return false;
    }
    return (lead == ',' || take(text, '{')) && take(text, '}');
  }
  if (!value.is_array()) return take(text, to_json(value));
  char lead = '[';
  for (const Value& item : value.get_array()) {
    if (!take(text, std::exchange(lead, ',')) || !take_value(text, item)) return false;
  }
  return (lead == ',' || take(text, '[')) && take(text, ']');
}

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

std::string_view text_of_raw(const Value& value) noexcept { return is_raw(value) ? raw_text(value) : std::string_view(); }

Value raw_fields(const FieldSet& set, const json::storage_ptr& storage) {
  std::string text;
  text.reserve(2048);
  set.encode(text);
  return make_raw(text, storage);
}

bool names_in_order(std::string_view fields_v1) {
  fields::WireReader reader(fields_v1);
  return fields::level_in_order(reader, 0);
}

bool is_json_of(std::string_view text, const Value& value) { return fields::take_value(text, value) && text.empty(); }

}  // namespace BACKPLANE_API

#include "base/log_fields.hpp"

#include <algorithm>

#include "backplane/core/json.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMaxNumberDigits = 15;  // longer numbers are written as strings, because JSON readers may store numbers as doubles

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
}
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of `key=` at the beginning of `text`; 0 if `text` does not begin so.
std::size_t key_length(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return 0;
  std::size_t end = 0;
  while (end < text.size() && is_key_char(text[end])) ++end;
  return end < text.size() && text[end] == '=' ? end + 1 : 0;
}

// The position of the next ` key=` in `text`, or the size of `text`.
std::size_t next_key(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(' ', from); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    if (key_length(text.substr(at + 1)) > 0) return at;
  }
  return text.size();
}

// The position after the closing quote of a quoted value; npos if there is none.
std::size_t quoted_end(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

std::string unquoted(std::string_view text) {
  std::string out;
  for (std::size_t at = 1; at + 1 < text.size(); ++at) {
    if (text[at] == '\\' && at + 2 < text.size()) ++at;
    out.push_back(text[at]);
  }
  return out;
}

bool extends_to_line_end(std::string_view key) { return key == "error" || key == "reason"; }

// Removes one value from the front of `text`.
std::string take_value(std::string_view key, std::string_view& text) {
  if (!text.empty() && text.front() == '"') {
    const std::size_t end = quoted_end(text);
    if (end != std::string_view::npos && (end == text.size() || text[end] == ' ')) {
      std::string value = unquoted(text.substr(0, end));
      text.remove_prefix(end);
      return value;
    }
  }
  const std::size_t end = extends_to_line_end(key) ? text.size() : next_key(text, 0);
  std::string value(text.substr(0, end));
  text.remove_prefix(end);
  return value;
}

}  // namespace

LogFields split_log_message(std::string_view message) {
  LogFields fields;
  const std::size_t words = key_length(message) > 0 ? 0 : next_key(message, 0);
  fields.words = message.substr(0, words);
  std::string_view rest = message.substr(words);
  while (!rest.empty()) {
    if (rest.front() == ' ') rest.remove_prefix(1);
    const std::size_t length = key_length(rest);
    if (length == 0) {
      // Text follows a quoted value, which no log line of the host has. It becomes the field "rest".
      if (!rest.empty()) fields.values.emplace_back("rest", std::string(rest));
      break;
    }
    const std::string_view key = rest.substr(0, length - 1);
    rest.remove_prefix(length);
    fields.values.emplace_back(key, take_value(key, rest));
  }
  return fields;
}

void append_log_value(std::string& out, std::string_view value) {
  const std::string_view digits = value.substr(value.starts_with('-') ? 1 : 0);
  const bool number = !digits.empty() && digits.size() <= kMaxNumberDigits && (digits.front() != '0' || digits.size() == 1) &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number || value == "true" || value == "false") {
    out += value;
  } else {
    append_json_string(out, value);
  }
}

}  // namespace backplane

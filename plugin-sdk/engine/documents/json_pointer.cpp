#include "documents/json_pointer.hpp"

#include <algorithm>
#include <charconv>

#include "schema/scan.hpp"

namespace backplane::documents {
namespace {

// Moves the scanner to the value of a member of its object; `begin`: the offset of the member.
bool enter_member(schema::Scanner& in, const std::string& name, Occurrence occurrence, std::size_t& begin) {
  schema::Scanner object = in;
  bool found = false;
  std::string_view key;
  for (object.enter('{');;) {
    schema::Scanner before = object;
    if (!object.next_key(key)) return found;
    if (key == name) {
      found = true;
      begin = before.begin();
      in = object;
      if (occurrence == Occurrence::kFirst) return true;
    }
    object.value();
  }
}

// Like enter_member(), for a member or an item of the container at the scanner.
bool enter_step(schema::Scanner& in, const std::string& step, Occurrence occurrence, std::size_t& begin) {
  if (schema::Scanner object = in; object.enter('{')) return enter_member(in, step, occurrence, begin);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || !in.enter('[')) return false;
  for (std::size_t i = 0; in.next_item(); ++i) {
    begin = in.begin();
    if (i == index) return true;
    in.value();
  }
  return false;
}

// The longest key of the object that is a prefix of `rest`; empty: none.
std::string longest_key(const Object& object, std::string_view rest) {
  std::string best;
  for (const auto& member : object) {
    const std::string_view key = member.key();
    const bool fits = rest.starts_with(key) && (rest.size() == key.size() || rest[key.size()] == '.' || rest[key.size()] == '[');
    if (fits && key.size() > best.size()) best = key;
  }
  return best;
}

}  // namespace

std::string to_string(const Pointer& pointer) {
  std::string out;
  for (const std::string& step : pointer) {
    out += '/';
    for (const char c : step) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t line_of(std::string_view text, const Pointer& pointer, Occurrence occurrence) {
  schema::Scanner in(text);
  std::size_t begin = in.begin();
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (!enter_step(in, pointer[i], i + 1 == pointer.size() ? occurrence : Occurrence::kFirst, begin)) break;
  }
  // The comma before a key may be on another line.
  begin = std::min(text.find_first_not_of(" \t\r\n,", begin), text.size());
  return line_at(text, begin);
}

Pointer pointer_of(const Value& root, std::string_view dotted) {
  Pointer out;
  const Value* at = &root;
  while (!dotted.empty()) {
    if (dotted.front() == '.') dotted.remove_prefix(1);
    if (!dotted.empty() && dotted.front() == '[' && at->is_array()) {
      const std::size_t end = dotted.find(']');
      if (end == std::string_view::npos) break;
      std::size_t index = 0;
      std::from_chars(dotted.data() + 1, dotted.data() + end, index);
      out.push_back(std::to_string(index));
      if (index >= at->get_array().size()) break;
      at = &at->get_array()[index];
      dotted.remove_prefix(end + 1);
    } else if (at->is_object()) {
      const std::string key = longest_key(at->get_object(), dotted);
      if (key.empty()) break;
      out.push_back(key);
      at = &at->get_object().at(key);
      dotted.remove_prefix(key.size());
    } else {
      break;
    }
  }
  return out;
}

}  // namespace backplane::documents

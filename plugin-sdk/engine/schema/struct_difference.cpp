#include "backplane/types/struct_difference.hpp"

#include <vector>

#include "schema/unified_diff.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Adds the lines of json.MarshalIndent with one space.
void add_lines(const Value& value, const std::string& indent, std::string line, std::vector<std::string>& lines) {
  const bool object = value.is_object();
  const std::size_t count = object ? value.get_object().size() : value.is_array() ? value.get_array().size() : 0;
  if (count == 0) {
    lines.push_back(line + to_json(value));
    return;
  }
  lines.push_back(line + (object ? "{" : "["));
  const std::string inner = indent + " ";
  if (object) {
    for (const auto& member : value.get_object()) {
      std::string key = inner;
      append_json_string(key, std::string_view(member.key().data(), member.key().size()));
      add_lines(member.value(), inner, key + ": ", lines);
      if (&member != value.get_object().end() - 1) lines.back() += ',';
    }
  } else {
    for (const Value& item : value.get_array()) {
      add_lines(item, inner, inner, lines);
      if (&item != &value.get_array().back()) lines.back() += ',';
    }
  }
  lines.push_back(indent + (object ? "}" : "]"));
}

std::vector<std::string> lines_of(const Value& value) {
  std::vector<std::string> lines;
  add_lines(value, "", "", lines);
  return lines;
}

}  // namespace

std::optional<std::string> struct_difference(const Schema& type, const Object& before, const Object& after) {
  const auto old = lines_of(type.go_struct(before));
  const auto now = lines_of(type.go_struct(after));
  if (old == now) return std::nullopt;
  return schema::unified_diff(old, now);
}

}  // namespace BACKPLANE_API

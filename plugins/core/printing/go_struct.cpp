#include "printing/go_struct.hpp"

#include "backplane/schema.hpp"
#include "printing/unified_diff.hpp"

namespace backplane::core {
namespace {

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

}  // namespace

Value go_struct(std::string_view type, const Object& object) {
  const Schema* schema = core_schemas()->find("io.k8s.api.core.v1." + std::string(type));
  return schema != nullptr ? schema->go_struct(object) : Value(object);
}

Value go_structs(std::string_view type, const Array* list) {
  if (list == nullptr) return nullptr;
  Array out;
  for (const Value& item : *list) {
    if (item.is_object()) out.push_back(go_struct(type, item.get_object()));
  }
  return out;
}

std::vector<std::string> indented_lines(const Value& value) {
  std::vector<std::string> lines;
  add_lines(value, "", "", lines);
  return lines;
}

std::optional<std::string> struct_difference(std::string_view type, const Object& before, const Object& after) {
  const auto old = indented_lines(go_struct(type, before));
  const auto now = indented_lines(go_struct(type, after));
  if (old == now) return std::nullopt;
  return unified_diff(old, now);
}

}  // namespace backplane::core

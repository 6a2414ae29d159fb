#include "printing/go_struct.hpp"

#include <algorithm>
#include <map>

#include "go_structs_json.hpp"
#include "printing/unified_diff.hpp"

namespace backplane::core {
namespace {

struct Field {
  std::string go_name, json_name, form;
};
using Layouts = std::map<std::string, std::vector<Field>, std::less<>>;

std::string_view text(const Value& value) { return {value.get_string().data(), value.get_string().size()}; }

Layouts read_layouts() {
  const std::string_view document = go_structs_json();
  const Value parsed = json::parse(json::string_view(document.data(), document.size()));
  Layouts layouts;
  for (const auto& type : parsed.get_object()) {
    auto& fields = layouts[std::string(type.key())];
    for (const Value& row : type.value().get_array()) {
      const Array& words = row.get_array();
      fields.push_back({std::string(text(words[0])), std::string(text(words[1])), std::string(text(words[2]))});
    }
  }
  return layouts;
}

const std::vector<Field>& fields_of(std::string_view type) {
  static const Layouts* const layouts = new Layouts(read_layouts());
  static const std::vector<Field> kNone;
  const auto found = layouts->find(type);
  return found == layouts->end() ? kNone : found->second;
}

Value print(std::string_view form, const Value* value, const Object& around);

Value print_struct(std::string_view type, const Object& object, const Object& around) {
  Object out;
  for (const Field& field : fields_of(type)) {
    const bool outside = field.json_name.starts_with('^');
    const Value* value = find(outside ? around : object, outside ? std::string_view(field.json_name).substr(1) : field.json_name);
    if (field.form != "inline") {
      out[field.go_name] = print(field.form, value, object);
    } else if (value != nullptr && value->is_object()) {
      for (const auto& member : value->get_object()) out[member.key()] = member.value();
    }
  }
  return out;
}

Value print_list(std::string_view form, const Value* value, const Object& around) {
  if (value == nullptr || !value->is_array()) return nullptr;
  Array out;
  for (const Value& item : value->get_array()) out.push_back(print(form, &item, around));
  return out;
}

Value print_map(std::string_view form, const Value* value, const Object& around) {
  if (value == nullptr || !value->is_object()) return nullptr;
  std::map<std::string, const Value*> sorted;
  for (const auto& member : value->get_object()) sorted.emplace(member.key(), &member.value());
  Object out;
  for (const auto& [key, item] : sorted) out[key] = print(form, item, around);
  return out;
}

// What a field that is not set holds.
Value zero(std::string_view form) {
  if (form == "string") return "";
  if (form == "bool") return false;
  if (form == "quantity") return "0";
  if (form == "int" || form == "intorstring") return 0;
  return nullptr;
}

Value print(std::string_view form, const Value* value, const Object& around) {
  static const Object kEmpty;
  if (form.starts_with("[]")) return print_list(form.substr(2), value, around);
  if (form.starts_with("map:")) return print_map(form.substr(4), value, around);
  const bool pointer = form.starts_with('*');
  if (pointer) form.remove_prefix(1);
  // A pod's security context is made when there is none, for what stands beside it in the versioned API.
  const bool made = form == "PodSecurityContext";
  const bool set = value != nullptr && !value->is_null();
  if (!set && pointer && !made) return nullptr;
  if (!fields_of(form).empty()) return print_struct(form, set && value->is_object() ? value->get_object() : kEmpty, around);
  return set ? *value : zero(form);
}

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

Value go_struct(std::string_view type, const Object& object) { return print_struct(type, object, object); }

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

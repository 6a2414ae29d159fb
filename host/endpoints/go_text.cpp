#include "endpoints/go_text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace backplane::endpoints {
namespace {

void append_go_value(std::string& out, const Value& value);

void append_go_map(std::string& out, const Object& object) {
  std::vector<std::pair<std::string_view, const Value*>> members;
  members.reserve(object.size());
  for (const auto& member : object) members.emplace_back(std::string_view(member.key().data(), member.key().size()), &member.value());
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out.append("map[");
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out.push_back(' ');
    out.append(members[i].first).push_back(':');
    append_go_value(out, *members[i].second);
  }
  out.push_back(']');
}

void append_go_list(std::string& out, const Array& array) {
  out.push_back('[');
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out.push_back(' ');
    append_go_value(out, array[i]);
  }
  out.push_back(']');
}

void append_go_value(std::string& out, const Value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out.append("<nil>");
      break;
    case json::kind::string:
      out.append(value.get_string());
      break;
    case json::kind::object:
      append_go_map(out, value.get_object());
      break;
    case json::kind::array:
      append_go_list(out, value.get_array());
      break;
    default:
      append_json(out, value);
  }
}

constexpr std::size_t kSummaryBytes = 30;

// reflect's kind and type of what encoding/json decoded a value of that word into.
struct SourceRow {
  std::string_view json;
  std::string_view kind;
  std::string_view type;
};
constexpr std::array<SourceRow, 5> kSources = {{
    {"string", "string", "string"},
    {"number", "int64", "int64"},
    {"array", "slice", "[]interface {}"},
    {"object", "map", "map[string]interface {}"},
    {"bool", "bool", "bool"},
}};

bool is_scalar_type(std::string_view type) noexcept {
  return type.find('.') == std::string_view::npos && !type.starts_with('[') && !type.starts_with("map[");
}

std::string converter_text(std::string_view word, bool fraction, std::string_view type) {
  const auto* row = std::find_if(kSources.begin(), kSources.end(), [&](const SourceRow& each) { return each.json == word; });
  if (row == kSources.end()) return {};
  const std::string_view kind = fraction ? "float64" : row->kind;
  std::string out;
  if (is_scalar_type(type)) return out.append("cannot convert ").append(fraction ? kind : row->type).append(" to ").append(type);
  const std::string_view target = type.starts_with('[') ? "slice from " : type.starts_with("map[") ? "map from " : "struct from: ";
  return out.append("cannot restore ").append(target).append(kind);
}

}  // namespace

std::string go_value(const Value& value) {
  std::string out;
  append_go_value(out, value);
  return out;
}

std::string_view json_kind(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "bool";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    default:
      return "number";
  }
}

std::string unmarshal_error(const Value& value, std::string_view type) {
  return std::string("json: cannot unmarshal ").append(json_kind(value)).append(" into Go value of type ").append(type);
}

std::string unmarshal_field_error(const Value& value, std::string_view field, std::string_view type) {
  std::string out = "json: cannot unmarshal ";
  out.append(json_kind(value));
  // The number itself is named where the type takes numbers, but not this one.
  if (value.is_number() && type.starts_with("int")) out.append(" ").append(to_json(value));
  return out.append(" into Go struct field ").append(field).append(" of type ").append(type);
}

std::string unstructured_error(std::string_view json_error) {
  constexpr std::string_view kHead = "json: cannot unmarshal ";
  constexpr std::string_view kInto = " into Go ";
  constexpr std::string_view kType = " of type ";
  const auto into = json_error.find(kInto);
  const auto type = json_error.rfind(kType);
  if (!json_error.starts_with(kHead) || into == std::string_view::npos || type == std::string_view::npos || type < into) {
    return std::string(json_error);
  }
  const std::string_view source = json_error.substr(kHead.size(), into - kHead.size());
  const std::string_view word = source.substr(0, source.find(' '));
  const bool fraction = source.find('.') != std::string_view::npos;
  std::string out = converter_text(word, fraction, json_error.substr(type + kType.size()));
  return out.empty() ? std::string(json_error) : out;
}

std::string body_summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const bool cut = body.size() > kSummaryBytes;
  const std::string_view shown = body.substr(0, kSummaryBytes);
  std::string out;
  if (body.front() == '{') {
    out.append(shown);
  } else {
    static constexpr char kHex[] = "0123456789abcdef";
    for (const char letter : shown) {
      const auto byte = static_cast<unsigned char>(letter);
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  if (cut) out.append(" ...");
  return out;
}

}  // namespace backplane::endpoints

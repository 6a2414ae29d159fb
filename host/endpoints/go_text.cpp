#include "endpoints/go_text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "backplane/core/json_kind.hpp"

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

}  // namespace

std::string go_value(const Value& value) {
  std::string out;
  append_go_value(out, value);
  return out;
}

std::string unmarshal_error(const Value& value, std::string_view type) {
  return std::string("json: cannot unmarshal ").append(json_kind(value)).append(" into Go value of type ").append(type);
}

std::string unmarshal_field_error(const Value& value, std::string_view field, std::string_view type) {
  std::string out = "json: cannot unmarshal ";
  out.append(json_kind(value));
  // If the type is an integer type that does not accept the number, the message contains the number.
  if (value.is_number() && type.starts_with("int")) out.append(" ").append(to_json(value));
  return out.append(" into Go struct field ").append(field).append(" of type ").append(type);
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

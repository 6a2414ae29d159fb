// fmt.Sprint of a decoded JSON value.
#include <algorithm>

#include "backplane/schema.hpp"

namespace backplane BACKPLANE_API {
namespace {

void print(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += "<nil>";
  } else if (value.is_string()) {
    out += std::string_view(value.get_string());
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const Value& item : value.get_array()) {
      if (!first) out += ' ';
      first = false;
      print(out, item);
    }
    out += ']';
  } else if (value.is_object()) {
    std::vector<const json::key_value_pair*> members;
    for (const auto& member : value.get_object()) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    out += "map[";
    bool first = true;
    for (const auto* member : members) {
      if (!first) out += ' ';
      first = false;
      out.append(member->key()).push_back(':');
      print(out, member->value());
    }
    out += ']';
  } else {
    append_json(out, value);
  }
}

}  // namespace

std::string go_print(const Value& value) {
  std::string out;
  print(out, value);
  return out;
}

}  // namespace BACKPLANE_API

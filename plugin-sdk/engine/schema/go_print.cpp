// fmt.Sprint of a decoded JSON value.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {
namespace {

// A float64 with the shortest digits, and an exponent below 1e-4 and from a million on.
void print_real(std::string& out, double number) {
  std::array<char, 32> text;
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e6);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number, format).ptr);
}

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
  } else if (value.is_double() || value.is_uint64()) {
    print_real(out, value.to_number<double>());  // an integer beyond int64 is a float64 in Go
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

// Names as expressions write them.
#include <algorithm>
#include <array>

#include "cel/environment.hpp"

namespace backplane::cel_detail {
namespace {

struct Escape {
  std::string_view text;
  std::string_view written;
};
constexpr std::array<Escape, 4> kEscapes = {Escape{"__", "__underscores__"}, Escape{".", "__dot__"}, Escape{"-", "__dash__"},
                                            Escape{"/", "__slash__"}};

// Reserved words, which cannot be names of members.
bool is_keyword(std::string_view word) { return word == "true" || word == "false" || word == "null" || is_reserved(word); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const Escape* escape_at(std::string_view text, bool written) {
  for (const Escape& each : kEscapes) {
    if (text.starts_with(written ? each.written : each.text)) return &each;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> candidate_names(std::string_view container, std::string_view name) {
  if (name.starts_with('.')) return {std::string(name.substr(1))};
  std::vector<std::string> out;
  for (std::string_view prefix = container; !prefix.empty();) {
    out.push_back(std::string(prefix) + "." + std::string(name));
    const std::size_t dot = prefix.rfind('.');
    prefix = dot == std::string_view::npos ? std::string_view() : prefix.substr(0, dot);
  }
  out.emplace_back(name);
  return out;
}

}  // namespace backplane::cel_detail

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

using namespace cel_detail;

std::string escape(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return {};
  if (is_keyword(name)) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    if (const Escape* found = escape_at(name.substr(i), false)) {
      out += found->written;
      i += found->text.size();
    } else if (is_letter(name[i]) || is_digit(name[i])) {
      out.push_back(name[i++]);
    } else {
      return {};
    }
  }
  return out;
}

std::string unescape(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t end = name.substr(i).starts_with("__") ? name.find("__", i + 2) : std::string_view::npos;
    const std::string_view inside = end == std::string_view::npos ? std::string_view() : name.substr(i + 2, end - i - 2);
    if (inside.empty() || inside.find('_') != std::string_view::npos) {
      out.push_back(name[i++]);
      continue;
    }
    const Escape* found = escape_at(name.substr(i), true);
    if (found != nullptr) {
      out += found->text;
    } else if (is_keyword(inside) && end + 2 - i == name.size()) {
      out += inside;
    } else {
      return {};
    }
    i = end + 2;
  }
  return out;
}

bool is_identifier(std::string_view name) {
  const auto word = [](char c) { return is_letter(c) || is_digit(c); };
  if (name.empty() || !is_letter(name.front()) || !std::all_of(name.begin(), name.end(), word)) return false;
  return !is_reserved(name) && name != "true" && name != "false" && name != "null";
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

// Indents JSON as Go's json.Indent does.
#include <algorithm>

#include "backplane/core/json.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Returns the length of the string literal that starts at `at`, including its quotes.
std::size_t literal_length(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size()) - at;
}

void append_line(std::string& out, int depth) {
  out.push_back('\n');
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

}  // namespace

std::string pretty_json(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() + compact.size() / 2);
  int depth = 0;
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char letter = compact[i];
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    if (letter == '"') {
      const std::size_t length = literal_length(compact, i);
      out.append(compact.substr(i, length));
      i += length - 1;
    } else if (letter == '{' || letter == '[') {
      out.push_back(letter);
      if (next == '}' || next == ']') {
        out.push_back(next);
        ++i;
      } else {
        append_line(out, ++depth);
      }
    } else if (letter == '}' || letter == ']') {
      append_line(out, --depth);
      out.push_back(letter);
    } else if (letter == ',') {
      out.push_back(letter);
      append_line(out, depth);
    } else if (letter == ':') {
      out.append(": ");
    } else if (letter != '\n') {
      out.push_back(letter);
    }
  }
  out.push_back('\n');
  return out;
}

}  // namespace BACKPLANE_API

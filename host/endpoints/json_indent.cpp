#include "endpoints/json_indent.hpp"

namespace backplane::endpoints {

void JsonIndenter::new_line(std::string& out) const {
  out.push_back('\n');
  out.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void JsonIndenter::feed(std::string_view piece, std::string& out) {
  for (const char letter : piece) {
    if (in_string_) {
      out.push_back(letter);
      if (escaped_) {
        escaped_ = false;
      } else if (letter == '\\') {
        escaped_ = true;
      } else if (letter == '"') {
        in_string_ = false;
      }
      continue;
    }
    if (letter == '\n') continue;
    const bool closes = letter == '}' || letter == ']';
    if (opened_ && !closes) {
      opened_ = false;
      ++depth_;
      new_line(out);
    }
    if (letter == '{' || letter == '[') {
      opened_ = true;
      out.push_back(letter);
    } else if (closes) {
      if (opened_) {
        opened_ = false;
      } else {
        --depth_;
        new_line(out);
      }
      out.push_back(letter);
    } else if (letter == ',') {
      out.push_back(letter);
      new_line(out);
    } else if (letter == ':') {
      out.append(": ");
    } else {
      in_string_ = letter == '"';
      out.push_back(letter);
    }
  }
}

}  // namespace backplane::endpoints

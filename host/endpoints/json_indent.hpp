// Indents JSON like Go's json.Indent with two spaces. The JSON may be passed in pieces.
//
// Thread-safety: one JsonIndenter for each response.
#pragma once

#include <string>
#include <string_view>

namespace backplane::endpoints {

class JsonIndenter {
 public:
  // Appends the indented text of the next piece of compact JSON; a piece may end anywhere. Newlines between tokens are dropped: compact
  // responses end with a newline, indented responses do not.
  void feed(std::string_view piece, std::string& out);

 private:
  void new_line(std::string& out) const;

  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool opened_ = false;  // the last byte has opened an object or a list; if it is empty, it stays on one line
};

}  // namespace backplane::endpoints

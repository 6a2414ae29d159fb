// Go's json.Indent with two spaces, over JSON that comes in pieces.
//
// Thread-safety: none; one indenter per response.
#pragma once

#include <string>
#include <string_view>

namespace backplane::endpoints {

class JsonIndenter {
 public:
  // Appends the indented form of the next piece of compact JSON; pieces may break anywhere. The newline at the end of compact responses is
  // dropped: indented responses have none.
  void feed(std::string_view piece, std::string& out);

 private:
  void new_line(std::string& out) const;

  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool opened_ = false;  // the last byte opened an object or a list: an empty one stays on its line
};

}  // namespace backplane::endpoints

// Parses protobuf's text format into a tree of named fields without types. Supports the syntax that CEL's conformance suite uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane::textproto {

struct Field {
  std::string name;    // "expr"; "[type.googleapis.com/…]" unchanged
  std::string scalar;  // the text of a scalar; strings are unescaped and concatenated
  bool is_message = false;
  std::vector<Field> fields;

  const Field* find(std::string_view wanted) const {
    for (const Field& field : fields) {
      if (field.name == wanted) return &field;
    }
    return nullptr;
  }
  std::vector<const Field*> all(std::string_view wanted) const {
    std::vector<const Field*> out;
    for (const Field& field : fields) {
      if (field.name == wanted) out.push_back(&field);
    }
    return out;
  }
  std::string_view text(std::string_view wanted) const {
    const Field* field = find(wanted);
    return field == nullptr ? std::string_view() : std::string_view(field->scalar);
  }
};

// Throws std::runtime_error with the position of a syntax error.
Field parse(std::string_view text);

}  // namespace backplane::textproto

// The code of a path element: bytes whose order is upstream's.
//
// A field is its name.  A key is its members by name, each a name and a value; a value begins with its kind (numbers, texts, booleans,
// lists, maps, null, in this order); numbers sort by value, whole ones and others together.  Texts end with two zero bytes, and a zero byte
// inside is followed by 0xFF.
#pragma once

#include <string>
#include <string_view>

#include "engine/field_set.hpp"

namespace backplane::fields {

void append_value_code(std::string& out, const Value& value);
// A member of a key: name, then value.
void append_member_code(std::string& out, std::string_view name, const Value& value);
void append_text_code(std::string& out, std::string_view text);
// Like append_value_code(), for values of known type.
void append_string_value_code(std::string& out, std::string_view text);
void append_number_value_code(std::string& out, std::int64_t number);
void append_bool_value_code(std::string& out, bool value);
std::string index_code(std::int64_t at);

// Reads the codes that the functions above write.
class CodeReader {
 public:
  // `exact`: whole numbers are printed with all their digits.  Sets that were decoded have floats, which Go prints with an exponent from
  // seven digits on.
  explicit CodeReader(std::string_view code, bool exact = false) noexcept : rest_(code), exact_(exact) {}

  bool done() const noexcept { return rest_.empty(); }
  // Whether a member of a key follows; steps to its name.
  bool next_member() noexcept;
  std::string text();
  std::int64_t index() noexcept;
  // Appends the value as JSON, or as conflicts print it.
  void append_json_value(std::string& out) { append_value(out, false); }
  void append_printed_value(std::string& out) { append_value(out, true); }
  void skip_value();

 private:
  unsigned char byte() noexcept;
  void append_value(std::string& out, bool printed);
  void append_member(std::string& out, bool printed, bool first);
  void append_number(std::string& out, bool printed);
  template <class Each>
  void members(Each each);

  std::string_view rest_;
  bool exact_;
};

// Appends an element as problems of a client's object print it: .name, [port=1000000].
void append_exact_text(std::string& out, const PathElement& element);

}  // namespace backplane::fields

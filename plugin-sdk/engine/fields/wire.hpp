// Reads FieldsV1 as text in one pass, without building a tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/field_set.hpp"

namespace backplane::fields {

enum class Read : unsigned char { kDone, kUnknown, kMalformed };

// The code of the element `wire` ("f:name").
Read read_element(std::string_view wire, std::string& code);

// True if all characters need no escape, as in nearly every name.
bool is_plain_name(std::string_view name) noexcept;
// `"f:name":` and such.  `wire`: buffer for the encoding.
void append_field_name(std::string& out, std::string_view name, std::string& wire);
void append_element_name(std::string& out, const PathElement& element, std::string& wire);

// Walks through JSON that is an object of objects.  After the first error every call returns false.
class WireReader {
 public:
  explicit WireReader(std::string_view text) noexcept : text_(text) {}

  // Steps into an object; false also for null, which has no members, and for an error.
  bool enter();
  // The number of following members, if known.
  std::size_t members() const noexcept { return 0; }
  // Steps to the next member and returns true and its unescaped name, which is valid until the next call; false at the end of the object.
  bool next(std::string_view& name);
  // Skips the value.
  void skip();
  // True if only blanks follow.
  bool at_end() noexcept;
  bool ok() const noexcept { return ok_; }
  void fail() noexcept { ok_ = false; }

 private:
  void blanks() noexcept;
  bool take(char c) noexcept;
  bool read_name(std::string_view& name);
  bool skip_text() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string unescaped_;
  bool first_ = false;  // no member of the current object has been read
  bool ok_ = true;
};

// The same interface as WireReader, for a tree.
class TreeReader {
 public:
  explicit TreeReader(const Value& value) noexcept : value_(&value) {}

  bool enter();
  std::size_t members() const noexcept { return levels_.back().object->size(); }
  bool next(std::string_view& name);
  void skip() noexcept {}
  bool at_end() const noexcept { return ok_ && levels_.empty(); }
  bool ok() const noexcept { return ok_; }
  void fail() noexcept { ok_ = false; }

 private:
  struct Level {
    const Object* object;
    std::size_t at;
  };
  const Value* value_;  // the next value
  std::vector<Level> levels_;
  bool ok_ = true;
};

}  // namespace backplane::fields

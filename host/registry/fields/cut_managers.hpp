// Cuts the fields of managers out of the text of an object before it is parsed, and puts them into the parsed tree as raw values
// (engine/raw_json.hpp): they may be half of an object's bytes, and few writes read them.
//
// Thread-safety: pure functions and values.
// Lifetime:      borrows the text.
// Errors:        none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::registry {

class ManagersCut {
 public:
  // nullopt: the object has no managers, or they are at another position than the server writes them to.
  static std::optional<ManagersCut> of(std::string_view text);

  // The text with null in place of the fields.
  std::string rest() const;
  // Puts the fields into a tree that was parsed from rest(). False: the tree has another structure; it is unchanged.
  bool put_back(Value& tree) const;

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  explicit ManagersCut(std::string_view text) noexcept : text_(text) {}
  bool find();
  std::string_view text_of(const Span& span) const { return text_.substr(span.begin, span.end - span.begin); }

  std::string_view text_;
  std::vector<Span> spans_;
};

// The tree of a client's JSON with fieldsV1 as raw values, which are not parsed and may be invalid.  nullopt if the whole body must be
// parsed: it has no managers, or an error.
std::optional<Value> parse_sent(std::string_view body, json::storage_ptr storage);

}  // namespace backplane::registry

// The fields of managers cut out of the text of an object before it becomes a tree, and put back into the tree as raw values
// (engine/raw_json.hpp): half of an object's bytes may be that, and few writes look at them.
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
  // Nothing: there are no managers, or they are not where the server writes them.
  static std::optional<ManagersCut> of(std::string_view text);

  // The text with null in their place.
  std::string rest() const;
  // Puts them into the tree that rest() has given.  False: it is not such a tree, and stays as it is.
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

// Removes each fieldsV1 of metadata.managedFields from the text of an object before the text is parsed, and inserts them into the parsed
// tree as raw values (engine/raw_json.hpp): they may be half of an object's bytes, and few writes read them.
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
  // nullopt: the text has no managedFields, or they do not have the format that the server writes.
  static std::optional<ManagersCut> of(std::string_view text);

  // The text with null in place of each fieldsV1.
  std::string rest() const;
  // Inserts each fieldsV1 into a tree that was parsed from rest(). False: the tree has another structure; it is unchanged.
  bool restore(Value& tree) const;

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

// Parses a client's JSON; each fieldsV1 becomes a raw value, which is not parsed and may be invalid.  nullopt: the body has no
// managedFields or contains an error, so the caller must parse the whole body.
std::optional<Value> parse_sent(std::string_view body, json::storage_ptr storage);

}  // namespace backplane::registry

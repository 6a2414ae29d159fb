// The keywords of a schema object and the syntax of their values. The engines accept no other keywords.
//
// Thread-safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::documents {

enum class WordValue : std::uint8_t {
  kAny,
  kText,
  kTexts,  // a list of texts
  kFlag,   // true or false
  kCount,  // a number that is whole and not negative
  kNumber,
  kList,  // a list with at least one item
  kObject,
  kSchema,
  kSchemas,  // a list of schemas
  kMembers,  // an object of schemas
  kSchemaOrFlag,
};

struct SchemaWord {
  std::string_view word;
  bool structural = true;  // enforced or published in documents of this mode
  bool typed = true;
  WordValue value = WordValue::kAny;
};

const SchemaWord* find_word(std::string_view word) noexcept;
// The reason why the value is invalid for the keyword; empty: valid.
std::string_view wrong_value(WordValue wanted, const Value& value) noexcept;
// For a keyword that is not allowed: the reason and the replacement.
std::string refusal_of(std::string_view word, bool structural);
// The keyword of `known` that differs from `word` by one or two letters; empty: none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace backplane::documents

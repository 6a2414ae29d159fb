// The words that a schema object may have, and what each has to look like.  A word that is not here is known to no engine.
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
  kList,  // a list with an item at least
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
// Why the value cannot be the word's; empty: it can.
std::string_view wrong_value(WordValue wanted, const Value& value) noexcept;
// Of a word that is not allowed: why, and what to write in its place.
std::string refusal_of(std::string_view word, bool structural);
// The word of `known` that differs from `word` by one or two letters; empty: there is none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace backplane::documents

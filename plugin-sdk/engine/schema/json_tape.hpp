// The offsets of all values of a JSON text, found in one pass, to walk it in any order without a tree.
//
// Thread-safety: values; build() on one thread at a time.
// Lifetime:      offsets into the text, which the caller keeps.
// Errors:        build() returns false if the text does not have JSON's structure; scalars are not fully checked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace backplane::schema {

class JsonTape {
 public:
  // A value: [begin, end) of the text, for a string the text between its quotes.  The members of an object follow it as key, value,
  // key, value …, the items of an array one after another, up to `next`.
  struct Token {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t next = 0;  // index of the token after this value and its content
    char kind = 0;           // { [ " or the first letter of a number or word
    bool escaped = false;    // a string with escapes in it
  };

  bool build(std::string_view text);
  const Token& operator[](std::uint32_t index) const noexcept { return tokens_[index]; }
  std::string_view text(const Token& token) const noexcept { return text_.substr(token.begin, token.end - token.begin); }
  // Frees the memory of a large text.
  void trim();

 private:
  bool take_string(std::size_t& at);
  bool take_word(std::size_t& at);

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> open_;
};

}  // namespace backplane::schema

#include "mutate.hpp"

#include <algorithm>

namespace backplane::fuzz {
namespace {

constexpr std::size_t kMostChanges = 8;
constexpr std::size_t kLongest = 64 << 10;

// Tokens with a meaning for one of the parsers.
const std::string kTokens[] = {"{",
                               "}",
                               "[",
                               "]",
                               ",",
                               ":",
                               "\"",
                               "null",
                               "true",
                               "-0",
                               "1e999",
                               "9223372036854775808",
                               "\\u0000",
                               "\\ud800",
                               "\n",
                               "\r\n",
                               "\r\n\r\n",
                               "---\n",
                               "&a ",
                               "*a",
                               "<<: *a",
                               "!!binary ",
                               "? ",
                               "- ",
                               "\t",
                               "%00",
                               "%zz",
                               "..",
                               "//",
                               "?watch=1",
                               "=",
                               "!=",
                               " in (",
                               " notin (",
                               ")",
                               "$patch",
                               "\"$patch\":\"delete\"",
                               "$setElementOrder/",
                               "~1",
                               "~0",
                               "/-",
                               "Content-Length: 5\r\n",
                               "Transfer-Encoding: chunked\r\n",
                               "Host: a\r\n",
                               "Expect: 100-continue\r\n",
                               "0\r\n\r\n",
                               "ffffffffffffffff\r\n",
                               std::string(1, '\0'),
                               "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                               "\xc3\x28",
                               "\xef\xbb\xbf",
                               "\"x-kubernetes-list-map-keys\":[\"n\"]",
                               "\"pattern\":\"(\"",
                               "\"additionalProperties\":true"};

}  // namespace

std::string Mutator::next() {
  static constexpr Change kChanges[] = {&Mutator::flip_bit,     &Mutator::set_byte, &Mutator::insert_token, &Mutator::erase_range,
                                        &Mutator::repeat_range, &Mutator::splice,   &Mutator::cut};
  std::string text = corpus_[below(corpus_.size())];
  for (std::size_t changes = 1 + below(kMostChanges); changes > 0; --changes) (this->*kChanges[below(std::size(kChanges))])(text);
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

void Mutator::flip_bit(std::string& text) {
  if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1 << below(8));
}
void Mutator::set_byte(std::string& text) {
  if (!text.empty()) text[below(text.size())] = static_cast<char>(below(256));
}
void Mutator::insert_token(std::string& text) { text.insert(below(text.size() + 1), kTokens[below(std::size(kTokens))]); }
void Mutator::erase_range(std::string& text) {
  const std::size_t from = below(text.size() + 1);
  text.erase(from, below(std::min<std::size_t>(text.size() - from, 32) + 1));
}
void Mutator::repeat_range(std::string& text) {
  const std::size_t from = below(text.size() + 1);
  const std::string part = text.substr(from, below(64));
  const std::size_t times = 1 + below(4) * below(64);
  for (std::size_t i = 0; i < times && text.size() < kLongest; ++i) text.insert(from, part);
}
void Mutator::splice(std::string& text) {
  const std::string& other = corpus_[below(corpus_.size())];
  text = text.substr(0, below(text.size() + 1)) + other.substr(below(other.size() + 1));
}
void Mutator::cut(std::string& text) { text.resize(below(text.size() + 1)); }

}  // namespace backplane::fuzz

// Walks the text of a JSON document without building a tree, to index documents of hundreds of kilobytes.
//
// Thread-safety: values.
// Errors:        ok() becomes false at the first byte that JSON's structure does not permit; scalars are not fully checked.
#pragma once

#include <cstddef>
#include <string_view>

namespace backplane::schema {

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  bool ok() const noexcept { return ok_; }
  std::size_t offset() const noexcept { return at_; }

  // The offset of the next value.
  std::size_t begin() noexcept {
    skip_space();
    return at_;
  }
  // Enters the object or array that begins here.
  bool enter(char bracket) noexcept {
    skip_space();
    return take(bracket);
  }
  // The next key of the object being walked; false at its end.  The key is the raw text between the quotes.
  bool next_key(std::string_view& key) noexcept {
    if (!next('}')) return false;
    key = string();
    skip_space();
    if (ok_) ok_ = take(':');
    return ok_;
  }
  // Whether the array being walked has another item.
  bool next_item() noexcept { return next(']'); }
  // The text of the value that begins here, without surrounding space.
  std::string_view value() noexcept {
    skip_space();
    const std::size_t begin = at_;
    if (at_ >= text_.size()) return fail();
    const char first = text_[at_];
    if (first == '"') {
      string();
    } else if (first == '{' || first == '[') {
      skip_nested();
    } else {
      while (at_ < text_.size() && !ends_scalar(text_[at_])) ++at_;
      if (at_ == begin) return fail();
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  static bool ends_scalar(char c) noexcept { return is_space(c) || c == ',' || c == '}' || c == ']'; }
  std::string_view fail() noexcept {
    ok_ = false;
    return {};
  }
  void skip_space() noexcept {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) noexcept {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next(char close) noexcept {
    if (!ok_) return false;
    skip_space();
    if (take(close)) return false;
    if (take(',')) skip_space();
    return true;
  }
  std::string_view string() noexcept {
    if (!take('"')) return fail();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return fail();
    return text_.substr(begin, at_++ - begin);
  }
  void skip_nested() noexcept {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
    ok_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace backplane::schema

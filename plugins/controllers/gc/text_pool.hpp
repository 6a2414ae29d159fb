// Texts that many nodes share, such as namespaces and kinds: each is stored once and counted.
//
// Thread-safety: one thread.
// Lifetime:      a view is valid until the text's last release().
// Errors:        none.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backplane::controllers::gc {

class TextPool {
 public:
  // Returns the number of `text`, and counts one use.
  std::uint32_t take(std::string_view text);
  void release(std::uint32_t number);
  std::string_view text(std::uint32_t number) const { return rows_[number].text; }
  // Returns a number above all numbers in use. The text of a released number is empty.
  std::uint32_t end() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }

 private:
  struct Row {
    std::string text;
    std::uint32_t uses = 0;
  };
  std::deque<Row> rows_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // views of rows_
};

}  // namespace backplane::controllers::gc

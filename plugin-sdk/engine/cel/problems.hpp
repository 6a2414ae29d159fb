// The problems of an expression and their text.
//
// Thread-safety: an instance belongs to one expression and one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cel_detail {

inline constexpr std::size_t kNoOffset = static_cast<std::size_t>(-1);

struct SourceProblem {
  std::size_t offset = 0;  // in bytes; kNoOffset: the problem concerns the whole expression
  std::string text;
};

class Problems {
 public:
  // The first hundred are stored, all are counted.
  void add(std::size_t offset, std::string text);
  bool empty() const noexcept { return count_ == 0; }
  std::size_t count() const noexcept { return count_; }
  // The problems in the order of their offsets: "ERROR: <input>:1:5: Syntax error: …", the line, and a mark below.
  std::string printed(std::string_view source) const;

 private:
  std::vector<SourceProblem> kept_;
  std::size_t count_ = 0;
};

std::size_t characters_of(std::string_view text);

}  // namespace backplane::cel_detail

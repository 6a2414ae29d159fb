#include "gc/text_pool.hpp"

namespace backplane::controllers::gc {

std::uint32_t TextPool::take(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) {
    ++rows_[found->second].uses;
    return found->second;
  }
  std::uint32_t number = 0;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(rows_.size());
    rows_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  rows_[number].text = text;
  rows_[number].uses = 1;
  numbers_.emplace(rows_[number].text, number);
  return number;
}

void TextPool::release(std::uint32_t number) {
  Row& row = rows_[number];
  if (--row.uses > 0) return;
  numbers_.erase(row.text);
  row.text.clear();
  free_.push_back(number);
}

}  // namespace backplane::controllers::gc

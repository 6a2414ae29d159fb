// Rows that are numbered from 1 and do not move: 1024 of them share an allocation, and the numbers of released rows are reused.
// Allocations are few and large, because many small long-lived ones would prevent the allocator from returning the memory between them.
// Thread-safety: one thread.
// Lifetime:      a reference is valid until its row is released.
// Errors:        none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace backplane::controllers::gc {

template <class Row>
class RowTable {
 public:
  using Number = std::uint32_t;

  // Adds a default Row, and returns its number.
  Number take() {
    if (!free_.empty()) {
      const Number number = free_.back();
      free_.pop_back();
      return number;
    }
    if (end_ == chunks_.size() * kRows) chunks_.push_back(std::make_unique<Row[]>(kRows));
    return end_++;
  }
  void release(Number number) {
    (*this)[number] = Row();
    free_.push_back(number);
  }
  Row& operator[](Number number) { return chunks_[number / kRows][number % kRows]; }
  const Row& operator[](Number number) const { return chunks_[number / kRows][number % kRows]; }

  // Returns a number above all numbers in use. Rows below it may have been released.
  Number end() const noexcept { return end_; }
  std::size_t bytes() const noexcept { return chunks_.size() * kRows * sizeof(Row) + free_.capacity() * sizeof(Number); }

 private:
  static constexpr Number kRows = 1024;
  std::vector<std::unique_ptr<Row[]>> chunks_ = first_chunk();
  std::vector<Number> free_;
  Number end_ = 1;

  static std::vector<std::unique_ptr<Row[]>> first_chunk() {
    std::vector<std::unique_ptr<Row[]>> out;
    out.push_back(std::make_unique<Row[]>(kRows));
    return out;
  }
};

}  // namespace backplane::controllers::gc

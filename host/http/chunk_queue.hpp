// A queue of response body bytes. push() adds shared chunks; take() removes any number of bytes from the front.
//
// Thread-safety: belongs to one exchange.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/bytes.hpp"

namespace backplane {

class ChunkQueue {
 public:
  void push(SharedBytes chunk) {
    if (chunk.empty()) return;
    size_ += chunk.size();
    if (chunks_.capacity() == 0) chunks_.reserve(kFirst);
    chunks_.push_back(std::move(chunk));
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() {
    std::vector<SharedBytes>().swap(chunks_);
    first_ = offset_ = size_ = 0;
  }
  // Moves exactly `count` bytes to `out`. The queue must have at least `count` bytes.
  void take(std::string& out, std::size_t count) {
    size_ -= count;
    while (count > 0) {
      const std::string_view left = chunks_[first_].view().substr(offset_);
      const std::size_t now = left.size() < count ? left.size() : count;
      out.append(left.data(), now);
      count -= now;
      if (now == left.size()) {
        chunks_[first_++] = SharedBytes();  // releases the chunk's bytes
        offset_ = 0;
      } else {
        offset_ += now;
      }
    }
    if (first_ == chunks_.size()) {
      first_ = 0;
      chunks_.clear();
      if (chunks_.capacity() > kKeptCapacity) chunks_.shrink_to_fit();
    } else if (first_ > kKeptCapacity && first_ > chunks_.size() / 2) {
      chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

 private:
  static constexpr std::size_t kFirst = 2;  // a response of one object has one or two chunks
  static constexpr std::size_t kKeptCapacity = 16;
  std::vector<SharedBytes> chunks_;  // the chunks before first_ have been taken
  std::size_t first_ = 0;
  std::size_t offset_ = 0;  // offset in the first chunk
  std::size_t size_ = 0;
};

}  // namespace backplane

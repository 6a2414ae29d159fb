// Body bytes on their way out: shared chunks in order, taken from the front in any amount.
//
// Thread-safety: belongs to one exchange.
#pragma once

#include <deque>
#include <string>

#include "backplane/bytes.hpp"

namespace backplane {

class ChunkQueue {
 public:
  void push(SharedBytes chunk) {
    if (chunk.empty()) return;
    size_ += chunk.size();
    chunks_.push_back(std::move(chunk));
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() {
    chunks_.clear();
    offset_ = size_ = 0;
  }
  // Appends exactly `count` bytes, which must be there, to `out` and drops them here.
  void take(std::string& out, std::size_t count) {
    size_ -= count;
    while (count > 0) {
      const std::string_view left = chunks_.front().view().substr(offset_);
      const std::size_t now = left.size() < count ? left.size() : count;
      out.append(left.data(), now);
      count -= now;
      if (now == left.size()) {
        chunks_.pop_front();
        offset_ = 0;
      } else {
        offset_ += now;
      }
    }
  }

 private:
  std::deque<SharedBytes> chunks_;
  std::size_t offset_ = 0;  // into the first chunk
  std::size_t size_ = 0;
};

}  // namespace backplane

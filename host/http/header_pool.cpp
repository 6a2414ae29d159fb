#include "http/header_pool.hpp"

#include <utility>
#include <vector>

namespace backplane {
namespace {

constexpr std::size_t kUsual = 12;     // the capacity of a new list
constexpr std::size_t kLargest = 24;   // lists with a larger capacity are not pooled
constexpr std::size_t kMostKept = 64;  // the maximum number of pooled lists of a thread

thread_local bool ended = false;

struct Kept {
  Kept() { lists.reserve(kMostKept); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { ended = true; }
  std::vector<Headers> lists;
};
thread_local Kept kept;

}  // namespace

Headers take_headers() {
  Headers taken;
  if (!ended && !kept.lists.empty()) {
    taken = std::move(kept.lists.back());
    kept.lists.pop_back();
  } else {
    taken.reserve(kUsual);
  }
  return taken;
}

void recycle_headers(Headers headers) noexcept {
  headers.clear();
  if (ended || headers.capacity() < kUsual || headers.capacity() > kLargest || kept.lists.size() == kMostKept) return;
  kept.lists.push_back(std::move(headers));
}

}  // namespace backplane

#include "watchcache/index_scan.hpp"

#include <algorithm>

#include "base/yield.hpp"

namespace backplane {
namespace {

constexpr std::size_t kBatch = 256;     // objects handed out at once
constexpr std::size_t kPortion = 2048;  // entries looked at before others of the executor go first: some 0.2 ms

using Batch = std::span<const ObjectEntry* const>;

class ScanCursor final : public ObjectCursor {
 public:
  explicit ScanCursor(IndexScan scan) : start_(scan), scan_(std::move(scan)) {}
  bool rewind() override {
    scan_ = start_;
    return true;
  }
  Task<Result<Batch>> next() override {
    batch_.clear();
    while (scan_.left() > 0 && batch_.empty()) {
      if (std::exchange(others_first_, false)) co_await Yield{};
      others_first_ = scan_.take(batch_, kBatch);
    }
    co_return Batch(batch_);
  }

 private:
  const IndexScan start_;
  IndexScan scan_;
  IndexScan::Found batch_;
  bool others_first_ = false;
};

class FoundCursor final : public ObjectCursor {
 public:
  FoundCursor(IndexScan scan, IndexScan::Found found) : scan_(std::move(scan)), found_(std::move(found)) {}
  Task<Result<Batch>> next() override {
    const std::size_t count = std::min(kBatch, found_.size() - at_);
    co_return Batch(found_).subspan(std::exchange(at_, at_ + count), count);
  }
  bool rewind() override {
    at_ = 0;
    return true;
  }

 private:
  const IndexScan scan_;
  const IndexScan::Found found_;
  std::size_t at_ = 0;
};

}  // namespace

bool IndexScan::take(Found& found, std::size_t limit) {
  const std::size_t end = left_ - std::min(left_, kPortion);
  while (left_ > end && found.size() < limit) {
    const ObjectRef* entry = cursor_.next();
    if (entry == nullptr) {
      left_ = 0;
      return false;
    }
    --left_;
    if (!selection_.selects() || selection_.selected(**entry)) found.push_back(entry->get());
  }
  return left_ == end && left_ > 0;
}

std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan) { return std::make_unique<ScanCursor>(std::move(scan)); }
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan, IndexScan::Found found) {
  return std::make_unique<FoundCursor>(std::move(scan), std::move(found));
}

}  // namespace backplane

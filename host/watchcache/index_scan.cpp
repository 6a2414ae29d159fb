#include "watchcache/index_scan.hpp"

#include <algorithm>

#include "base/yield.hpp"

namespace backplane {
namespace {

constexpr std::size_t kBatch = 256;      // objects per batch
constexpr std::size_t kPortion = 2048;   // entries and summaries read between two yields: about 0.2 ms
constexpr std::size_t kBuilding = 1024;  // the cost of building a run: entries that could be read in the same time

using Batch = std::span<const ObjectEntry* const>;

void fill(std::vector<const ObjectEntry*>& batch, std::span<const ObjectRef* const> found) {
  batch.clear();
  for (const ObjectRef* entry : found) batch.push_back(entry->get());
}

class ScanCursor final : public ObjectCursor {
 public:
  explicit ScanCursor(IndexScan scan) : start_(scan), scan_(std::move(scan)) {}
  bool rewind() override {
    scan_ = start_;
    return true;
  }
  Task<Result<Batch>> next() override {
    found_.clear();
    scan_.release();
    while (scan_.left() > 0 && found_.empty()) {
      if (std::exchange(others_first_, false)) co_await Yield{};
      others_first_ = scan_.take(found_, kBatch);
    }
    fill(batch_, found_);
    co_return Batch(batch_);
  }

 private:
  const IndexScan start_;
  IndexScan scan_;
  IndexScan::Found found_;
  std::vector<const ObjectEntry*> batch_;
  bool others_first_ = false;
};

class FoundCursor final : public ObjectCursor {
 public:
  FoundCursor(IndexScan scan, IndexScan::Found found) : scan_(std::move(scan)), found_(std::move(found)) {}
  Task<Result<Batch>> next() override {
    const std::size_t count = std::min(kBatch, found_.size() - at_);
    fill(batch_, std::span(found_).subspan(std::exchange(at_, at_ + count), count));
    co_return Batch(batch_);
  }
  bool rewind() override {
    at_ = 0;
    return true;
  }

 private:
  const IndexScan scan_;  // keeps the found entries alive
  const IndexScan::Found found_;
  std::vector<const ObjectEntry*> batch_;
  std::size_t at_ = 0;
};

}  // namespace

IndexScan::IndexScan(const ObjectIndex& index, Selection selection)
    : cursor_(index.cursor(selection.start())),
      left_(index.rank(selection.end()) - index.rank(selection.start())),
      selection_(std::move(selection)) {}

bool IndexScan::next_run(std::size_t& looks) {
  const auto run = selection_.transient() ? cursor_.next_run_transient(run_owner_) : cursor_.next_run();
  if (run.entries.empty()) left_ = 0;
  looks += run.built_now ? kBuilding : 1;
  const std::size_t count = std::min(run.entries.size(), left_);
  if (count > 0 && selection_.selects() && run.summary != nullptr && !run.summary->may_hold(selection_.wanted())) {
    left_ -= count;
  } else {
    run_ = run.entries.first(count);
  }
  return left_ > 0;
}

bool IndexScan::take(Found& found, std::size_t limit) {
  std::size_t looks = 0;
  while (found.size() < limit && looks < kPortion) {
    if (run_.empty()) {
      if (!next_run(looks)) return false;
    }
    for (; !run_.empty() && found.size() < limit; --left_, ++looks) {
      const ObjectRef& entry = run_.front();
      run_ = run_.subspan(1);
      if (selection_.selects() && !selection_.selected(*entry)) continue;
      found.push_back(&entry);
      if (run_owner_ != nullptr && (found_in_.empty() || found_in_.back() != run_owner_)) found_in_.push_back(run_owner_);
    }
  }
  return looks >= kPortion && left_ > 0;
}

std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan) { return std::make_unique<ScanCursor>(std::move(scan)); }
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan, IndexScan::Found found) {
  return std::make_unique<FoundCursor>(std::move(scan), std::move(found));
}

}  // namespace backplane

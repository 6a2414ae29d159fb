#include <algorithm>

#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::size_t kBatch = 256;

class EntriesCursor final : public ObjectCursor {
 public:
  explicit EntriesCursor(std::vector<ObjectRef> entries) : entries_(std::move(entries)) {}
  Task<Result<std::span<const ObjectEntry* const>>> next() override {
    batch_.clear();
    const std::size_t end = std::min(entries_.size(), at_ + kBatch);
    for (; at_ < end; ++at_) batch_.push_back(entries_[at_].get());
    co_return std::span<const ObjectEntry* const>(batch_);
  }
  bool rewind() override {
    at_ = 0;
    return true;
  }

 private:
  const std::vector<ObjectRef> entries_;
  std::size_t at_ = 0;
  std::vector<const ObjectEntry*> batch_;
};

}  // namespace

std::unique_ptr<ObjectCursor> make_cursor(std::vector<ObjectRef> entries) { return std::make_unique<EntriesCursor>(std::move(entries)); }

Task<Status> for_each(ObjectCursor& items, std::function<void(const ObjectEntry&)> visit) {
  for (;;) {
    auto reading = items.next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
    if (batch->empty()) co_return Status();
    for (const ObjectEntry* entry : *batch) visit(*entry);
  }
}

}  // namespace BACKPLANE_API

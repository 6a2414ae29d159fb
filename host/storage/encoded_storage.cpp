#include "storage/encoded_storage.hpp"

namespace backplane {
namespace {

class EncodedWatch final : public StorageWatch {
 public:
  EncodedWatch(std::unique_ptr<StorageWatch> below, std::shared_ptr<const StoredValues> values, bool with_previous)
      : below_(std::move(below)), values_(std::move(values)), with_previous_(with_previous) {}

  Task<Result<EventBatch>> next() override {
    auto reading = below_->next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return batch;
    if (!with_previous_) {
      for (StorageEvent& event : batch->events) event.previous = SharedBytes();
    }
    auto decoding = values_->read(batch->events);
    co_await std::move(decoding);
    co_return batch;
  }
  void cancel() override { below_->cancel(); }

 private:
  const std::unique_ptr<StorageWatch> below_;
  const std::shared_ptr<const StoredValues> values_;
  const bool with_previous_;
};

}  // namespace

EncodedStorage::EncodedStorage(StorageBackend& backend, std::shared_ptr<const PublishedTransformers> transformers)
    : ObjectStorage(backend), values_(std::make_shared<StoredValues>(backend.stored_form(), std::move(transformers))) {}
EncodedStorage::~EncodedStorage() = default;

Task<Result<RangeResult>> EncodedStorage::range(RangeRequest request) {
  auto reading = backend_.range(std::move(request));
  auto result = co_await std::move(reading);
  if (!result.ok()) co_return result;
  auto decoding = values_->read(result->items);
  co_await std::move(decoding);
  co_return result;
}

Task<Result<ObjectStorage::Compared>> EncodedStorage::compare(std::string key, SharedBytes worked) {
  RangeRequest request;
  request.start = std::move(key);
  auto reading = backend_.range(std::move(request));
  auto stored = co_await std::move(reading);
  if (!stored.ok()) co_return std::move(stored.status());
  Compared out;
  out.result = std::move(*stored);
  if (out.result.items.empty()) co_return out;
  auto comparing = values_->read_and_compare(out.result.items.front(), std::move(worked));
  out.same_bytes = co_await std::move(comparing);
  co_return out;
}

Task<Result<TxnResult>> EncodedStorage::txn(TxnRequest request) {
  auto writing = values_->write(request.puts);
  Status written = co_await std::move(writing);
  if (!written.ok()) co_return written;
  auto committing = backend_.txn(std::move(request));
  auto result = co_await std::move(committing);
  if (!result.ok()) co_return result;
  auto decoding = values_->read(result->found);
  co_await std::move(decoding);
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::open(std::string prefix, Revision after, bool with_previous) {
  auto below = backend_.watch(std::move(prefix), after);
  if (!below.ok()) return below;
  return std::unique_ptr<StorageWatch>(std::make_unique<EncodedWatch>(std::move(*below), values_, with_previous));
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch(std::string prefix, Revision after) {
  return open(std::move(prefix), after, /*with_previous=*/true);
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch_changes(std::string prefix, Revision after) {
  return open(std::move(prefix), after, /*with_previous=*/false);
}

}  // namespace backplane

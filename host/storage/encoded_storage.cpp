#include "storage/encoded_storage.hpp"

namespace backplane {
namespace {

class EncodedWatch final : public StorageWatch {
 public:
  EncodedWatch(std::unique_ptr<StorageWatch> below, std::shared_ptr<const StoredForms> forms, bool with_previous)
      : below_(std::move(below)), forms_(std::move(forms)), with_previous_(with_previous) {}

  Task<Result<EventBatch>> next() override {
    auto reading = below_->next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return batch;
    if (!with_previous_) {
      for (StorageEvent& event : batch->events) event.previous = SharedBytes();
    }
    forms_->read(batch->events);
    co_return batch;
  }
  void cancel() override { below_->cancel(); }

 private:
  const std::unique_ptr<StorageWatch> below_;
  const std::shared_ptr<const StoredForms> forms_;
  const bool with_previous_;
};

}  // namespace

EncodedStorage::EncodedStorage(StorageBackend& backend, StoredForms::Transformers transformers)
    : ForwardingStorage(backend), forms_(std::make_shared<StoredForms>(backend.stored_form(), std::move(transformers))) {}
EncodedStorage::~EncodedStorage() = default;
StoredPages::~StoredPages() = default;
StoredBytes::~StoredBytes() = default;

void EncodedStorage::use_scheme(std::shared_ptr<const Scheme> scheme) { forms_->use_scheme(std::move(scheme)); }
void EncodedStorage::use_kind(std::string_view prefix, StoredKind kind) { forms_->use_kind(prefix, std::move(kind)); }

Task<Result<RangeResult>> EncodedStorage::range(RangeRequest request) {
  auto reading = backend_.range(std::move(request));
  auto result = co_await std::move(reading);
  if (!result.ok()) co_return result;
  forms_->read(result->items);
  co_return result;
}

Task<Result<StoredBytes::Compared>> EncodedStorage::compare(std::string key, SharedBytes worked) {
  RangeRequest request;
  request.start = key;
  auto reading = backend_.range(std::move(request));
  auto stored = co_await std::move(reading);
  if (!stored.ok()) co_return std::move(stored.status());
  Compared out;
  out.result = std::move(*stored);
  if (out.result.items.empty()) co_return out;
  Status written = forms_->write(key, worked);
  if (!written.ok()) co_return written;
  out.same_bytes = worked.view() == out.result.items.front().value.view();
  forms_->read(out.result.items);
  co_return out;
}

Task<Result<TxnResult>> EncodedStorage::txn(TxnRequest request) {
  for (Put& put : request.puts) {
    Status status = forms_->write(put.key, put.value);
    if (!status.ok()) co_return status;
  }
  auto committing = backend_.txn(std::move(request));
  auto result = co_await std::move(committing);
  if (!result.ok()) co_return result;
  forms_->read(result->found);
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::open(std::string prefix, Revision after, bool with_previous) {
  auto below = backend_.watch(std::move(prefix), after);
  if (!below.ok()) return below;
  return std::unique_ptr<StorageWatch>(std::make_unique<EncodedWatch>(std::move(*below), forms_, with_previous));
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch(std::string prefix, Revision after) {
  return open(std::move(prefix), after, /*with_previous=*/true);
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch_changes(std::string prefix, Revision after) {
  return open(std::move(prefix), after, /*with_previous=*/false);
}

}  // namespace backplane

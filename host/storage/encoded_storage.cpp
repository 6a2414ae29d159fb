#include "storage/encoded_storage.hpp"

#include <shared_mutex>

namespace backplane {

// The way of one value in either direction.
class EncodedStorage::Forms {
 public:
  Forms(const Codec& written, Transformers transformers) : written_(written), transformers_(std::move(transformers)) {}

  void use_schema(std::string_view prefix, const Schema* schema) {
    std::unique_lock lock(mutex_);
    schemas_[std::string(prefix)] = schema;
  }

  Status write(std::string_view key, SharedBytes& value) const {
    if (&written_ != &json_codec()) {
      if (const Schema* schema = schema_of(key)) {
        auto stored = written_.to_stored(schema, std::string(value.view()));
        if (!stored.ok()) return unusable(key, stored.status());
        value = SharedBytes(std::move(*stored));
      }
    }
    for (const auto& transformer : transformers_) {
      auto stored = transformer->to_storage(key, std::move(value));
      if (!stored.ok()) return unusable(key, stored.status());
      value = std::move(*stored);
    }
    return {};
  }

  Status read(std::string_view key, SharedBytes& value) const {
    if (value.empty()) return {};
    for (auto transformer = transformers_.rbegin(); transformer != transformers_.rend(); ++transformer) {
      auto plain = (*transformer)->from_storage(key, std::move(value));
      if (!plain.ok()) return unusable(key, plain.status());
      value = std::move(*plain);
    }
    if (json_codec().wrote(value.view())) return {};
    for (const Codec* codec : codecs()) {
      if (!codec->wrote(value.view())) continue;
      auto json = codec->from_stored(schema_of(key), value.view());
      if (!json.ok()) return unusable(key, json.status());
      value = SharedBytes(std::move(*json));
      return {};
    }
    return {};  // not an object's: what else is kept in the store is nobody's business here
  }
  Status read(std::vector<KeyValue>& items) const {
    for (KeyValue& item : items) {
      if (Status status = read(item.key, item.value); !status.ok()) return status;
    }
    return {};
  }
  Status read(std::vector<StorageEvent>& events) const {
    for (StorageEvent& event : events) {
      if (Status status = read(event.kv.key, event.kv.value); !status.ok()) return status;
      if (Status status = read(event.kv.key, event.previous); !status.ok()) return status;
    }
    return {};
  }

 private:
  static Status unusable(std::string_view key, const Status& why) {
    return internal_error("the value of " + std::string(key) + " cannot be read or written: " + why.message());
  }

  // The type with the longest prefix of `key`.
  const Schema* schema_of(std::string_view key) const {
    std::shared_lock lock(mutex_);
    for (auto slash = key.rfind('/'); slash != std::string_view::npos && slash > 0; slash = key.rfind('/', slash - 1)) {
      const auto found = schemas_.find(key.substr(0, slash + 1));
      if (found != schemas_.end()) return found->second;
    }
    return nullptr;
  }

  const Codec& written_;
  const Transformers transformers_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, const Schema*, std::less<>> schemas_;
};

namespace {

class EncodedWatch final : public StorageWatch {
 public:
  EncodedWatch(std::unique_ptr<StorageWatch> below, std::shared_ptr<const EncodedStorage::Forms> forms)
      : below_(std::move(below)), forms_(std::move(forms)) {}

  Task<Result<EventBatch>> next() override {
    auto reading = below_->next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return batch;
    Status status = forms_->read(batch->events);
    if (!status.ok()) co_return status;
    co_return batch;
  }
  void cancel() override { below_->cancel(); }

 private:
  const std::unique_ptr<StorageWatch> below_;
  const std::shared_ptr<const EncodedStorage::Forms> forms_;
};

const Codec& codec_of(const StorageBackend& backend) {
  const Codec* codec = find_codec(backend.stored_form());
  return codec != nullptr ? *codec : json_codec();
}

}  // namespace

EncodedStorage::EncodedStorage(StorageBackend& backend, Transformers transformers)
    : backend_(backend), forms_(std::make_shared<Forms>(codec_of(backend), std::move(transformers))) {}
EncodedStorage::~EncodedStorage() = default;

void EncodedStorage::use_schema(std::string_view prefix, const Schema* schema) { forms_->use_schema(prefix, schema); }

Task<Result<RangeResult>> EncodedStorage::range(RangeRequest request) {
  auto reading = backend_.range(std::move(request));
  auto result = co_await std::move(reading);
  if (!result.ok()) co_return result;
  Status status = forms_->read(result->items);
  if (!status.ok()) co_return status;
  co_return result;
}

Task<Result<TxnResult>> EncodedStorage::txn(TxnRequest request) {
  for (Put& put : request.puts) {
    Status status = forms_->write(put.key, put.value);
    if (!status.ok()) co_return status;
  }
  auto committing = backend_.txn(std::move(request));
  auto result = co_await std::move(committing);
  if (!result.ok()) co_return result;
  Status status = forms_->read(result->found);
  if (!status.ok()) co_return status;
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch(std::string prefix, Revision after) {
  auto below = backend_.watch(std::move(prefix), after);
  if (!below.ok()) return below;
  return std::unique_ptr<StorageWatch>(std::make_unique<EncodedWatch>(std::move(*below), forms_));
}

}  // namespace backplane

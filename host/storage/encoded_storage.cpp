#include "storage/encoded_storage.hpp"

#include <optional>
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
      if (const Schema* schema = schema_of(key).value_or(nullptr)) {
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

  // One value that cannot be read hides no other: it says so itself.
  void read(KeyValue& item) const {
    Status status = read(item.key, item.value);
    if (status.ok()) return;
    item.value = SharedBytes();
    item.unreadable = std::make_shared<const Status>(std::move(status));
  }
  void read(std::vector<KeyValue>& items) const {
    for (KeyValue& item : items) read(item);
  }
  void read(std::vector<StorageEvent>& events) const {
    for (StorageEvent& event : events) {
      read(event.kv);
      if (!read(event.kv.key, event.previous).ok()) event.previous = SharedBytes();
    }
  }

 private:
  static Status unusable(std::string_view key, const Status& why) {
    return internal_error("the value of " + std::string(key) + " cannot be written: " + why.message());
  }
  // As upstream's lists say it.
  static Status unreadable(std::string_view key, std::string_view why) {
    return Status(500, Reason::kNone, "unable to transform key " + quoted(key) + ": " + std::string(why));
  }

  Status read(std::string_view key, SharedBytes& value) const {
    if (value.empty()) return {};
    for (auto transformer = transformers_.rbegin(); transformer != transformers_.rend(); ++transformer) {
      auto plain = (*transformer)->from_storage(key, std::move(value));
      if (!plain.ok()) return unreadable(key, plain.status().message());
      value = std::move(*plain);
    }
    const std::string_view bytes = value.view();
    // What stands between the braces is the backend's to keep: it has checksums, and a parse of everything at every start costs much.
    if (json_codec().wrote(bytes)) return bytes.ends_with('}') ? Status() : unreadable(key, "the object is cut short");
    const std::optional<const Schema*> schema = schema_of(key);
    for (const Codec* codec : codecs()) {
      if (!codec->wrote(bytes)) continue;
      auto json = codec->from_stored(schema.value_or(nullptr), bytes);
      if (!json.ok()) return unreadable(key, json.status().message());
      value = SharedBytes(std::move(*json));
      return {};
    }
    // What else is kept in the store is nobody's business here.
    return schema ? unreadable(key, "the value is no object in any form that is known here") : Status();
  }

  // The type with the longest prefix of `key`; nothing: no object has such a key.
  std::optional<const Schema*> schema_of(std::string_view key) const {
    std::shared_lock lock(mutex_);
    for (auto slash = key.rfind('/'); slash != std::string_view::npos && slash > 0; slash = key.rfind('/', slash - 1)) {
      const auto found = schemas_.find(key.substr(0, slash + 1));
      if (found != schemas_.end()) return found->second;
    }
    return std::nullopt;
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
    forms_->read(batch->events);
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
  forms_->read(result->items);
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
  forms_->read(result->found);
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> EncodedStorage::watch(std::string prefix, Revision after) {
  auto below = backend_.watch(std::move(prefix), after);
  if (!below.ok()) return below;
  return std::unique_ptr<StorageWatch>(std::make_unique<EncodedWatch>(std::move(*below), forms_));
}

}  // namespace backplane

#include "storage/stored_values.hpp"

#include <algorithm>
#include <cassert>

#include "backplane/core/task_set.hpp"
#include "backplane/points/unreadable_object.hpp"

namespace backplane {
namespace {

using Plain = StorageTransformer::Plain;

Status unusable(std::string_view key, const Status& why) {
  return internal_error("the value of " + std::string(key) + " cannot be written: " + why.message());
}

// The error of a corrupt object, worded like upstream's storage.NewCorruptObjError (with its Code 7).  `key`: the backend's key.
Status corrupt(const std::string& key, const KeyValue& item, const Status& why, bool transformed) {
  std::string text = std::string(kCorruptObject) + ", Code: 7, Key: " + key + ", ResourceVersion: 0, AdditionalErrorMsg: ";
  text += transformed ? "object not decodable revision=" + std::to_string(item.mod_revision)
                      : std::string("data from the storage is not transformable revision=0");
  return internal_error(text + ": " + why.message());
}

Status unreadable(const std::string& key, const Status& why) {
  return Status(500, Reason::kNone, std::string(kUnreadableKey) + " " + backplane::quoted(key) + ": " + why.message());
}

std::string_view parent_of(std::string_view key) { return key.substr(0, key.rfind('/') + 1); }

}  // namespace

// Returns the Place of each key of one operation.  Keys with the same parent path have the same Place, so that consecutive ones need one
// lookup.
class StoredValues::Places {
 public:
  explicit Places(const StoredValues& values)
      : forms_(values.forms_), transformers_(values.transformers_ != nullptr ? values.transformers_->get() : nullptr) {}

  const Place& of(std::string_view key) {
    const std::string_view parent = parent_of(key);
    if (known_ && parent == parent_) return place_;
    known_ = true;
    parent_ = parent;
    place_.kind = forms_.kind_of(key);
    const bool asked = transformers_ != nullptr && place_.kind != nullptr;
    place_.transformer = asked ? find_transformer(*transformers_, place_.kind->resource) : nullptr;
    return place_;
  }

 private:
  const StoredForms& forms_;
  const std::shared_ptr<const StorageTransformers> transformers_;
  bool known_ = false;
  std::string parent_;
  Place place_;
};

// ---- writing

Task<Status> StoredValues::write(std::vector<Put>& puts) const {
  Places places(*this);
  for (Put& put : puts) {
    auto writing = write(places.of(put.key), put);
    Status written = co_await std::move(writing);
    if (!written.ok()) co_return written;
  }
  co_return Status();
}

Task<Status> StoredValues::write(Place place, Put& put) const {
  const SharedBytes worked = put.value;
  Status fits = forms_.check_size(place.kind.get(), put.key, worked);
  if (!fits.ok()) co_return fits;
  auto encoded = forms_.encode(place.kind.get(), worked);
  if (!encoded.ok()) co_return unusable(put.key, encoded.status());
  assert(check_reads_back(place.kind.get(), *encoded, worked.view()) && "what is written is read back as it was");
  auto transforming = to_storage(place.transformer, put.key, std::move(*encoded));
  auto stored = co_await std::move(transforming);
  if (!stored.ok()) co_return unusable(put.key, stored.status());
  put.value = std::move(*stored);
  note_written(place, put, worked);
  co_return Status();
}

// For assertions: true if `encoded` decodes to `worked`. Otherwise another server would return a different object for the value.
bool StoredValues::check_reads_back(const StoredKind* kind, SharedBytes encoded, std::string_view worked) const {
  if (kind == nullptr || encoded.view().data() == worked.data() || !forms_.reads_back(*kind, worked)) return true;
  return forms_.decode(kind, encoded).ok() && encoded.view() == worked;
}

void StoredValues::note_written(const Place& place, const Put& stored, const SharedBytes& worked) const {
  const bool unchanged = stored.value.view().data() == worked.view().data();
  if (unchanged || place.kind == nullptr || !forms_.reads_back(*place.kind, worked.view())) return;
  own_writes_.note(stored.key, stored.value, worked);
}

// ---- reading

void StoredValues::finish(const Place& place, KeyValue& item, Result<Plain> plain) const {
  const bool transformed = plain.ok();
  Status status = transformed ? Status() : plain.status();
  if (transformed) {
    item.value = std::move(plain->bytes);
    status = forms_.decode(place.kind.get(), item.value);
  }
  if (status.ok()) return;
  item.value = SharedBytes();
  const std::string key = keys_.of(item.key);
  item.unreadable = std::make_shared<const Status>(corrupt_objects_ ? corrupt(key, item, status, transformed) : unreadable(key, status));
}

std::size_t StoredValues::read_now(std::vector<KeyValue>& items, std::size_t from) const {
  Places places(*this);
  for (std::size_t at = from; at < items.size(); ++at) {
    KeyValue& item = items[at];
    if (item.value.empty()) continue;
    const Place& place = places.of(item.key);
    auto plain = from_storage_now(place.transformer, item.key, item.value);
    if (!plain) return at;
    finish(place, item, std::move(*plain));
  }
  return items.size();
}

Task<void> StoredValues::read(KeyValue& item) const {
  if (item.value.empty()) co_return;
  Places places(*this);
  auto reading = read(places.of(item.key), item);
  co_await std::move(reading);
}

Task<void> StoredValues::read(Place place, KeyValue& item) const {
  auto transforming = from_storage(place.transformer, item.key, item.value);
  auto plain = co_await std::move(transforming);
  finish(place, item, std::move(plain));
}

Task<void> StoredValues::read(std::vector<KeyValue>& items) const {
  for (std::size_t at = read_now(items, 0); at < items.size(); at = read_now(items, at)) {
    auto reading = read_some(items, at);
    at = co_await std::move(reading);
  }
}

Task<std::size_t> StoredValues::read_some(std::vector<KeyValue>& items, std::size_t from) const {
  Places places(*this);
  const std::size_t end = std::min(items.size(), from + kReadAtOnce);
  std::vector<Task<void>> waiting;
  for (std::size_t at = from; at < end; ++at) {
    if (!items[at].value.empty()) waiting.push_back(read(places.of(items[at].key), items[at]));
  }
  if (waiting.size() == 1) {
    co_await std::move(waiting.front());
    co_return end;
  }
  auto all = when_all(std::move(waiting));
  co_await std::move(all);
  co_return end;
}

Task<void> StoredValues::read(std::vector<StorageEvent>& events) const {
  Places places(*this);
  for (StorageEvent& event : events) {
    if (auto own = event.kv.value.empty() ? std::nullopt : own_writes_.take(event.kv.key, event.kv.value)) {
      event.kv.value = std::move(*own);
    } else if (!event.kv.value.empty()) {
      const Place& place = places.of(event.kv.key);
      if (auto plain = from_storage_now(place.transformer, event.kv.key, event.kv.value)) {
        finish(place, event.kv, std::move(*plain));
      } else {
        auto reading = read(place, event.kv);
        co_await std::move(reading);
      }
    }
    if (event.previous.empty()) continue;
    auto reading = read_previous(places.of(event.kv.key), event);
    co_await std::move(reading);
  }
}

Task<void> StoredValues::read_previous(Place place, StorageEvent& event) const {
  auto transforming = from_storage(place.transformer, event.kv.key, event.previous);
  auto plain = co_await std::move(transforming);
  event.previous = plain.ok() ? std::move(plain->bytes) : SharedBytes();
  if (!event.previous.empty() && !forms_.decode(place.kind.get(), event.previous).ok()) event.previous = SharedBytes();
}

Task<bool> StoredValues::read_and_compare(KeyValue& item, SharedBytes worked) const {
  Places places(*this);
  const Place place = places.of(item.key);
  auto transforming = from_storage(place.transformer, item.key, item.value);
  auto plain = co_await std::move(transforming);
  bool same = plain.ok() && !plain->stale;
  if (same) {
    const auto encoded = forms_.encode(place.kind.get(), worked);
    same = encoded.ok() && encoded->view() == plain->bytes.view();
  }
  finish(place, item, std::move(plain));
  co_return same;
}

}  // namespace backplane

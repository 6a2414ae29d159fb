#include "stable/opened_store.hpp"

#include "stable/conversions.hpp"
#include "stable/event_stream.hpp"

namespace backplane::stable {

StorageProvider::StorageProvider(const bp_storage_backend& given)
    : table(copy_of(&given)), name(text(table.name)), stored_form(text(table.stored_form)) {
  table.name = {};
  table.stored_form = {};
}

OpenedStore::OpenedStore(const StorageProvider& provider)
    : table(provider.table), name(provider.name), threads("store-" + provider.name, kThreads) {}
OpenedStore::~OpenedStore() = default;

std::shared_ptr<bp_event_stream> OpenedStore::add_stream(std::string prefix, Revision after) {
  auto stream = std::make_shared<bp_event_stream>(shared_from_this(), std::move(prefix), after);
  const std::lock_guard lock(mutex_);
  if (refuses_) return nullptr;
  streams_.insert(stream);
  return stream;
}

void OpenedStore::forget(const std::shared_ptr<bp_event_stream>& stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

std::vector<std::shared_ptr<bp_event_stream>> OpenedStore::refuse_streams() {
  const std::lock_guard lock(mutex_);
  refuses_ = true;
  return {streams_.begin(), streams_.end()};
}

}  // namespace backplane::stable

#include "registry/environment.hpp"

#include <algorithm>

namespace backplane {

void StoreEnvironment::State::fill(registry::BackingSlot& slot, bool eager) {
  registry::Backing backing;
  backing.storage = storage;
  backing.admission = admission;
  backing.cache = caches->add(slot.config(), eager);
  slot.fill(std::move(backing));
}

void StoreEnvironment::State::start(StorageBackend& the_storage, CacheHub& the_caches, AdmissionRunner& the_admission) {
  std::lock_guard lock(mutex);
  storage = &the_storage;
  caches = &the_caches;
  admission = &the_admission;
  for (registry::BackingSlot* slot : waiting) fill(*slot, true);
  waiting.clear();
}

void StoreEnvironment::State::attach(registry::BackingSlot& slot) {
  std::lock_guard lock(mutex);
  ++users[slot.config().prefix];
  if (caches == nullptr) waiting.push_back(&slot);
  else fill(slot, true);
}

void StoreEnvironment::State::detach(registry::BackingSlot& slot) {
  std::lock_guard lock(mutex);
  waiting.erase(std::remove(waiting.begin(), waiting.end(), &slot), waiting.end());
  const auto found = users.find(slot.config().prefix);
  if (found == users.end() || --found->second > 0) return;
  users.erase(found);
  if (caches != nullptr) caches->remove(slot.config().prefix);
}

StoreEnvironment::StoreEnvironment() : state_(std::make_shared<State>()) {}
StoreEnvironment::~StoreEnvironment() { stop(); }

void StoreEnvironment::start(StorageBackend& storage, CacheHub& caches, AdmissionRunner& admission) {
  state_->start(storage, caches, admission);
}

void StoreEnvironment::stop() {
  std::lock_guard lock(state_->mutex);
  state_->caches = nullptr;
}

}  // namespace backplane

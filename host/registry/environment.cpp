#include "registry/environment.hpp"

#include <algorithm>

#include "registry/object_store.hpp"
#include "registry/store_override_names.hpp"

namespace backplane {
namespace {

bool same(const CacheConfig& a, const CacheConfig& b) {
  const auto same_field = [](const SelectableField& x, const SelectableField& y) {
    return x.label == y.label && x.path == y.path && x.default_value == y.default_value;
  };
  return a.namespaced == b.namespaced && a.kind == b.kind && a.api_version == b.api_version && a.sorted_keys == b.sorted_keys &&
         std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(), same_field);
}

}  // namespace

void StoreEnvironment::State::fill(registry::BackingSlot& slot, bool eager) {
  if (kept) kept(slot.config().prefix, &slot.kind());
  registry::Backing backing;
  backing.storage = storage;
  backing.admission = admission;
  backing.leases = leases.get();
  for (const GroupResource& name : override_names(slot.config())) {
    const auto other = override_stores.find(name);
    if (other == override_stores.end()) continue;
    backing.storage = other->second.storage;
    backing.leases = other->second.leases.get();
    break;
  }
  backing.settings = settings;
  backing.cache = caches->add(slot.config(), eager);
  slot.fill(std::move(backing));
}

void StoreEnvironment::State::start(ObjectStorage& the_storage, CacheHub& the_caches, WriteAdmission& the_admission, Kept on_kept,
                                    StoreSettings the_settings) {
  std::lock_guard lock(mutex);
  storage = &the_storage;
  caches = &the_caches;
  admission = &the_admission;
  kept = std::move(on_kept);
  settings = std::make_shared<const StoreSettings>(std::move(the_settings));
  leases = std::make_unique<registry::Leases>(the_storage, settings->lease_reuse);
  std::map<StorageBackend*, std::shared_ptr<registry::Leases>> by_store;
  for (auto& [resource, other] : override_stores) {
    auto& shared = by_store[other.storage];
    if (!shared) shared = std::make_shared<registry::Leases>(*other.storage, settings->lease_reuse);
    other.leases = shared;
  }
  for (registry::BackingSlot* slot : waiting) fill(*slot, serves(*slot));
  waiting.clear();
  versions.clear();
}

bool StoreEnvironment::State::serves(const registry::BackingSlot& slot) const {
  const auto found = versions.find(slot.config().prefix);
  if (!settings->serves || found == versions.end()) return true;
  return std::any_of(found->second.begin(), found->second.end(), settings->serves);
}

void StoreEnvironment::State::note_version(const std::string& root, GroupVersionResource version) {
  const std::lock_guard lock(mutex);
  if (caches == nullptr) versions[root].push_back(std::move(version));
}

void StoreEnvironment::State::attach(registry::BackingSlot& slot, const Hold& hold) {
  std::lock_guard lock(mutex);
  const std::string& prefix = slot.config().prefix;
  auto& uses = prefixes[prefix];
  const bool first = uses.empty();
  const bool another = !first && !same(uses.back().users.front()->config(), slot.config());
  if (first || another) uses.emplace_back();
  uses.back().users.push_back(&slot);
  uses.back().owner = hold;
  if (another) renewed.insert(prefix);
  if (caches == nullptr) {
    waiting.push_back(&slot);
    return;
  }
  if (another) caches->retire(prefix);
  try {
    fill(slot, true);
  } catch (...) {
    leave(slot);
    throw;
  }
}

void StoreEnvironment::State::leave(const registry::BackingSlot& slot) {
  const std::string& prefix = slot.config().prefix;
  const auto found = prefixes.find(prefix);
  if (found == prefixes.end()) return;
  auto& uses = found->second;
  const auto use = std::find_if(uses.begin(), uses.end(), [&](const CacheUse& each) {
    return std::find(each.users.begin(), each.users.end(), &slot) != each.users.end();
  });
  if (use == uses.end()) return;  // take_replaced() has removed the cache
  std::erase(use->users, &slot);
  if (!use->users.empty()) return;
  const bool newest = use + 1 == uses.end();
  uses.erase(use);
  if (uses.size() < 2) renewed.erase(prefix);
  if (uses.empty()) {
    if (caches != nullptr) caches->remove(prefix);
    prefixes.erase(found);
  } else if (caches != nullptr && newest) {
    caches->restore(prefix, uses.back().users.front()->get()->cache);
  } else if (caches != nullptr) {
    slot.get()->cache->supersede();
  }
}

std::vector<std::shared_ptr<ResourceCache>> StoreEnvironment::State::take_replaced(const Hold& hold) {
  std::vector<std::shared_ptr<ResourceCache>> replaced;
  std::lock_guard lock(mutex);
  if (caches == nullptr) return replaced;
  const auto is_owned = [&](const CacheUse& use) { return !use.owner.owner_before(hold) && !hold.owner_before(use.owner); };
  for (auto prefix = renewed.begin(); prefix != renewed.end();) {
    auto& uses = prefixes.at(*prefix);
    const auto newest = std::find_if(uses.rbegin(), uses.rend(), is_owned);
    const auto last = newest == uses.rend() ? uses.begin() : newest.base() - 1;
    for (auto use = uses.begin(); use != last; ++use) replaced.push_back(use->users.front()->get()->cache);
    uses.erase(uses.begin(), last);
    prefix = uses.size() < 2 ? renewed.erase(prefix) : std::next(prefix);
  }
  return replaced;
}

void StoreEnvironment::State::detach(registry::BackingSlot& slot) {
  std::shared_ptr<registry::ObjectStore> newest;  // declared before the lock, as in claim()
  std::lock_guard lock(mutex);
  waiting.erase(std::remove(waiting.begin(), waiting.end(), &slot), waiting.end());
  // The slot's store is being destroyed; other stores of the prefix stay.
  newest = forget_ended(slot.config().prefix);
  leave(slot);
}

void StoreEnvironment::end_replaced(const Hold& hold) {
  for (const auto& cache : state_->take_replaced(hold)) cache->supersede();
}

std::shared_ptr<registry::ObjectStore> StoreEnvironment::State::find(const std::string& root) {
  std::lock_guard lock(mutex);
  const auto found = stores.find(root);
  return found == stores.end() ? nullptr : found->second.back().lock();
}

std::shared_ptr<registry::ObjectStore> StoreEnvironment::State::forget_ended(const std::string& prefix) {
  const auto place = stores.find(prefix);
  if (place == stores.end()) return nullptr;
  auto& over = place->second;
  const bool newest_ended = over.back().expired();
  std::erase_if(over, [](const auto& store) { return store.expired(); });
  if (over.empty()) {
    stores.erase(place);
    if (kept && caches != nullptr) kept(prefix, nullptr);
    return nullptr;
  }
  auto newest = over.back().lock();
  if (newest_ended && newest && kept && caches != nullptr) {
    const StoredKind kind = newest->kept_kind();
    kept(prefix, &kind);
  }
  return newest;
}

std::vector<std::shared_ptr<registry::ObjectStore>> StoreEnvironment::State::made_with(const Hold& hold, bool newest_only) {
  std::vector<std::shared_ptr<registry::ObjectStore>> found;
  {
    std::lock_guard lock(mutex);
    for (const auto& [_, over] : stores) {
      for (auto each = newest_only ? over.end() - 1 : over.begin(); each != over.end(); ++each) found.push_back(each->lock());
    }
  }
  // Releases the other stores without the lock, because the destructor of a store locks the mutex.
  std::erase_if(found, [&](const auto& store) { return store == nullptr || !store->made_with(hold); });
  return found;
}

Status StoreEnvironment::State::claim(const std::shared_ptr<registry::ObjectStore>& store) {
  const auto print = [](const GroupVersionKind& kind) { return kind.group_version().to_string() + ", Kind=" + kind.kind; };
  std::shared_ptr<registry::ObjectStore>
      before;  // declared before the lock: this may be the last reference to a store, which locks the mutex
  std::lock_guard lock(mutex);
  auto& place = stores[store->keys().root()];
  std::erase_if(place, [](const auto& each) { return each.expired(); });
  if (!place.empty()) before = place.back().lock();
  // While the server runs, a custom resource's store may be made again alongside its predecessor.
  if (before != nullptr && caches == nullptr) {
    return Status(Reason::kAlreadyExists, "resource " + quoted(store->config().resource) + " (" + print(store->kind()) +
                                              "): objects under " + store->keys().root() + " are " + print(before->kind()) +
                                              "; another version refers to it by stored_kind");
  }
  place.push_back(store);
  return {};
}

void StoreEnvironment::use_override_store(GroupResource resource, ObjectStorage& storage) {
  state_->override_stores[std::move(resource)].storage = &storage;
}

void StoreEnvironment::use_scheme(std::shared_ptr<const Scheme> scheme) { state_->scheme.set(std::move(scheme)); }

void StoreEnvironment::end_watches(const Hold& hold) {
  for (const auto& store : state_->made_with(hold, false)) {
    if (const registry::Backing* backing = store->backing()) backing->cache->end_watches();
  }
}

void StoreEnvironment::forget_kinds(const Hold& hold) {
  for (const auto& store : state_->made_with(hold, true)) {
    const std::string& prefix = store->keys().root();
    std::vector<std::shared_ptr<registry::ObjectStore>> others;  // released without the lock
    std::lock_guard lock(state_->mutex);
    const auto place = state_->stores.find(prefix);
    if (place == state_->stores.end()) continue;
    for (const auto& each : place->second) others.push_back(each.lock());
    const auto other =
        std::find_if(others.rbegin(), others.rend(), [&](const auto& each) { return each != nullptr && !each->made_with(hold); });
    if (!state_->kept) continue;
    const std::optional<StoredKind> kind = other != others.rend() ? std::optional((*other)->kept_kind()) : std::nullopt;
    state_->kept(prefix, kind ? &*kind : nullptr);
  }
}

StoreEnvironment::StoreEnvironment() : state_(std::make_shared<State>()) {}
StoreEnvironment::~StoreEnvironment() { stop(); }

void StoreEnvironment::start(ObjectStorage& storage, CacheHub& caches, WriteAdmission& admission, Kept kept, StoreSettings settings) {
  state_->start(storage, caches, admission, std::move(kept), std::move(settings));
}

void StoreEnvironment::stop() {
  std::lock_guard lock(state_->mutex);
  state_->caches = nullptr;
}

}  // namespace backplane

// The store of an informer: objects by key, and keys by the values of each index.
#include <mutex>
#include <set>
#include <shared_mutex>

#include "backplane/net/informer.hpp"

namespace backplane BACKPLANE_API {

std::string object_key(std::string_view ns, std::string_view name) {
  if (ns.empty()) return std::string(name);
  std::string key(ns);
  key.append("/").append(name);
  return key;
}
std::string object_key(const ObjectEntry& object) { return object_key(object.ns, object.name); }

std::pair<std::string, std::string> split_object_key(std::string_view key) {
  const auto slash = key.find('/');
  if (slash == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

struct Indexer::State {
  struct Index {
    IndexFunc values_of;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> keys;  // value → keys

    void add(const std::string& key, const ObjectEntry& object) {
      for (const std::string& value : values_of(object)) keys[value].insert(key);
    }
    void drop(const std::string& key, const ObjectEntry& object) {
      for (const std::string& value : values_of(object)) {
        const auto found = keys.find(value);
        if (found == keys.end()) continue;
        found->second.erase(key);
        if (found->second.empty()) keys.erase(found);
      }
    }
  };

  mutable std::shared_mutex mutex;
  std::map<std::string, ObjectRef, std::less<>> objects;
  std::map<std::string, Index, std::less<>> indexes;
};

Indexer::Indexer() : state_(std::make_unique<State>()) {
  state_->indexes[std::string(kNamespaceIndex)].values_of = [](const ObjectEntry& object) { return std::vector<std::string>{object.ns}; };
}
Indexer::~Indexer() = default;

ObjectRef Indexer::get(std::string_view key) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->objects.find(key);
  return found == state_->objects.end() ? nullptr : found->second;
}

std::vector<ObjectRef> Indexer::list() const {
  std::shared_lock lock(state_->mutex);
  std::vector<ObjectRef> out;
  out.reserve(state_->objects.size());
  for (const auto& [_, object] : state_->objects) out.push_back(object);
  return out;
}

std::vector<std::string> Indexer::list_keys() const {
  std::shared_lock lock(state_->mutex);
  std::vector<std::string> out;
  out.reserve(state_->objects.size());
  for (const auto& [key, _] : state_->objects) out.push_back(key);
  return out;
}

std::size_t Indexer::size() const {
  std::shared_lock lock(state_->mutex);
  return state_->objects.size();
}

Status Indexer::add_indexers(Indexers indexers) {
  std::unique_lock lock(state_->mutex);
  for (const auto& [name, _] : indexers) {
    if (state_->indexes.contains(name)) return Status(Reason::kAlreadyExists, "there is an index " + quoted(name) + " already");
  }
  for (auto& [name, values_of] : indexers) {
    State::Index& index = state_->indexes[name];
    index.values_of = std::move(values_of);
    for (const auto& [key, object] : state_->objects) index.add(key, *object);
  }
  return {};
}

Result<std::vector<std::string>> Indexer::index_keys(std::string_view index, const std::string& value) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->indexes.find(index);
  if (found == state_->indexes.end()) return Status(Reason::kNotFound, "there is no index " + quoted(index));
  const auto keys = found->second.keys.find(value);
  std::vector<std::string> out;
  if (keys != found->second.keys.end()) out.assign(keys->second.begin(), keys->second.end());
  return out;
}

Result<std::vector<ObjectRef>> Indexer::by_index(std::string_view index, const std::string& value) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->indexes.find(index);
  if (found == state_->indexes.end()) return Status(Reason::kNotFound, "there is no index " + quoted(index));
  const auto keys = found->second.keys.find(value);
  std::vector<ObjectRef> out;
  if (keys == found->second.keys.end()) return out;
  for (const std::string& key : keys->second) out.push_back(state_->objects.find(key)->second);
  return out;
}

Result<std::vector<std::string>> Indexer::index_values(std::string_view index) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->indexes.find(index);
  if (found == state_->indexes.end()) return Status(Reason::kNotFound, "there is no index " + quoted(index));
  std::vector<std::string> out;
  for (const auto& [value, _] : found->second.keys) out.push_back(value);
  return out;
}

ObjectRef Indexer::put(ObjectRef object) {
  std::string key = object_key(*object);
  std::unique_lock lock(state_->mutex);
  ObjectRef& place = state_->objects[key];
  ObjectRef old = std::move(place);
  place = std::move(object);
  for (auto& [_, index] : state_->indexes) {
    if (old) index.drop(key, *old);
    index.add(key, *place);
  }
  return old;
}

ObjectRef Indexer::remove(std::string_view key) {
  std::unique_lock lock(state_->mutex);
  const auto found = state_->objects.find(key);
  if (found == state_->objects.end()) return nullptr;
  ObjectRef old = std::move(found->second);
  for (auto& [_, index] : state_->indexes) index.drop(found->first, *old);
  state_->objects.erase(found);
  return old;
}

}  // namespace BACKPLANE_API

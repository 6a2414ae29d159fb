// The store of an informer: objects by key, and for each index the objects by value.
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
std::string object_key(const ObjectEntry& object) { return object_key(object.ns(), object.name()); }

std::pair<std::string, std::string> split_object_key(std::string_view key) {
  const auto slash = key.find('/');
  if (slash == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

namespace {

// Compares objects by namespace and name. The sets contain no copies of the keys.
struct ByKey {
  using is_transparent = void;
  using Key = std::pair<std::string_view, std::string_view>;
  static Key key(const Key& key) noexcept { return key; }
  static Key key(const ObjectRef& object) noexcept { return key(object.get()); }
  static Key key(const ObjectEntry* object) noexcept { return {object->ns(), object->name()}; }
  // The key of the text "namespace/name" or "name".
  static Key key(std::string_view text) noexcept {
    const auto slash = text.find('/');
    return slash == std::string_view::npos ? Key({}, text) : Key(text.substr(0, slash), text.substr(slash + 1));
  }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const noexcept {
    return key(a) < key(b);
  }
};

}  // namespace

struct Indexer::State {
  struct Index {
    IndexFunc values_of;
    std::map<std::string, std::set<const ObjectEntry*, ByKey>, std::less<>> objects;  // by the value of the index

    void add(const ObjectEntry& object) {
      for (const std::string& value : values_of(object)) objects[value].insert(&object);
    }
    void drop(const ObjectEntry& object) {
      for (const std::string& value : values_of(object)) {
        const auto found = objects.find(value);
        if (found == objects.end()) continue;
        found->second.erase(&object);
        if (found->second.empty()) objects.erase(found);
      }
    }
  };

  // Calls `visit` with each object that has this value in the index. Errors: kNotFound for an unknown index.
  template <class Visit>
  Status each(std::string_view name, std::string_view value, Visit visit) const {
    const auto index = indexes.find(name);
    if (index == indexes.end()) return Status(Reason::kNotFound, "there is no index " + quoted(name));
    const auto found = index->second.objects.find(value);
    if (found == index->second.objects.end()) return {};
    for (const ObjectEntry* const object : found->second) visit(*object);
    return {};
  }

  mutable std::shared_mutex mutex;
  std::set<ObjectRef, ByKey> objects;
  std::map<std::string, Index, std::less<>> indexes;
};

Indexer::Indexer() : state_(std::make_unique<State>()) {
  state_->indexes[std::string(kNamespaceIndex)].values_of = [](const ObjectEntry& object) { return std::vector{std::string(object.ns())}; };
}
Indexer::~Indexer() = default;

ObjectRef Indexer::get(std::string_view key) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->objects.find(key);
  return found == state_->objects.end() ? nullptr : *found;
}

std::vector<ObjectRef> Indexer::list() const {
  std::shared_lock lock(state_->mutex);
  return {state_->objects.begin(), state_->objects.end()};
}

std::vector<std::string> Indexer::list_keys() const {
  std::shared_lock lock(state_->mutex);
  std::vector<std::string> out;
  out.reserve(state_->objects.size());
  for (const ObjectRef& object : state_->objects) out.push_back(object_key(*object));
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
    for (const ObjectRef& object : state_->objects) index.add(*object);
  }
  return {};
}

Result<std::vector<std::string>> Indexer::index_keys(std::string_view index, const std::string& value) const {
  std::shared_lock lock(state_->mutex);
  std::vector<std::string> out;
  Status status = state_->each(index, value, [&](const ObjectEntry& object) { out.push_back(object_key(object)); });
  if (!status.ok()) return status;
  return out;
}

Result<std::vector<ObjectRef>> Indexer::by_index(std::string_view index, const std::string& value) const {
  std::shared_lock lock(state_->mutex);
  std::vector<ObjectRef> out;
  Status status = state_->each(index, value, [&](const ObjectEntry& object) { out.push_back(*state_->objects.find(&object)); });
  if (!status.ok()) return status;
  return out;
}

Result<std::vector<std::string>> Indexer::index_values(std::string_view index) const {
  std::shared_lock lock(state_->mutex);
  const auto found = state_->indexes.find(index);
  if (found == state_->indexes.end()) return Status(Reason::kNotFound, "there is no index " + quoted(index));
  std::vector<std::string> out;
  for (const auto& [value, _] : found->second.objects) out.push_back(value);
  return out;
}

ObjectRef Indexer::put(ObjectRef object) {
  std::unique_lock lock(state_->mutex);
  auto& objects = state_->objects;
  ObjectRef old;
  if (const auto found = objects.find(object); found != objects.end()) {
    old = *found;
    for (auto& [_, index] : state_->indexes) index.drop(*old);
    auto node = objects.extract(found);
    node.value() = object;
    objects.insert(std::move(node));
  } else {
    objects.insert(object);
  }
  for (auto& [_, index] : state_->indexes) index.add(*object);
  return old;
}

ObjectRef Indexer::remove(std::string_view key) {
  std::unique_lock lock(state_->mutex);
  const auto found = state_->objects.find(key);
  if (found == state_->objects.end()) return nullptr;
  ObjectRef old = *found;
  for (auto& [_, index] : state_->indexes) index.drop(*old);
  state_->objects.erase(found);
  return old;
}

}  // namespace BACKPLANE_API

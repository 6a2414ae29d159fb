#include "watchcache/packed_entries.hpp"

#include <algorithm>

#include "base/heap_room.hpp"

namespace backplane {

namespace {
constexpr std::size_t kEntryRoom = 500;  // the approximate size of an entry without its JSON
}  // namespace

PackedEntries::PackedEntries(std::shared_ptr<const EntryBuilder> builder, std::span<const KeyValue> items)
    : size_(items.size()), first_(builder->build(items.front())), builder_(std::move(builder)) {
  const auto rest = items.subspan(1);
  std::size_t bytes = 0;
  for (const KeyValue& item : rest) bytes += item.key.size() + item.value.size();
  text_.reserve(bytes);
  items_.reserve(rest.size());
  for (const KeyValue& item : rest) {
    text_.append(item.key).append(item.value.view());
    items_.push_back({static_cast<std::uint32_t>(item.key.size()), static_cast<std::uint32_t>(item.value.size()), item.mod_revision,
                      EntryBuilder::loaded_as(item)});
  }
}

template <class Each>
void PackedEntries::for_each_item(const Each& each) const {
  std::string_view rest = text_;
  for (const Item& item : items_) {
    each(item, rest.substr(0, item.key_size), rest.substr(item.key_size, item.value_size));
    rest.remove_prefix(item.key_size + item.value_size);
  }
}

std::vector<ObjectRef> PackedEntries::make_entries() const {
  std::vector<ObjectRef> entries;
  entries.reserve(size_);
  entries.push_back(first_);
  for_each_item([&](const Item& item, std::string_view key, std::string_view value) {
    entries.push_back(builder_->build(key, value, item.revision, item.type));
  });
  return entries;
}

void PackedEntries::build() const {
  const std::lock_guard lock(mutex_);
  if (built_.load(std::memory_order_relaxed)) return;
  make_heap_room(text_.size() + size_ * kEntryRoom);
  std::vector<ObjectRef> entries = make_entries();
  auto summary = std::make_unique<Summary>();
  for (const ObjectRef& entry : entries) summary->add(*entry);
  entries_ = std::move(entries);
  summary_ = std::move(summary);
  free_with_pages(text_);
  std::vector<Item>().swap(items_);
  builder_.reset();
  built_.store(true, std::memory_order_release);
}

const std::vector<ObjectRef>& PackedEntries::entries() const {
  if (!built()) build();
  return entries_;
}

const Summary& PackedEntries::summary() const {
  if (!built()) build();
  return *summary_;
}

std::shared_ptr<const std::vector<ObjectRef>> PackedEntries::transient_entries() const {
  if (!built()) {
    const std::lock_guard lock(mutex_);
    if (!built()) return std::make_shared<const std::vector<ObjectRef>>(make_entries());
  }
  return std::make_shared<const std::vector<ObjectRef>>(entries_);
}

std::size_t PackedEntries::position(std::string_view key) const {
  if (key <= first_->key()) return 0;
  if (!built()) {
    const std::lock_guard lock(mutex_);
    if (!built()) {
      std::size_t before = 1;
      for_each_item([&](const Item&, std::string_view each, std::string_view) { before += each < key; });
      return before;
    }
  }
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), key,
                                      [](const ObjectRef& entry, std::string_view wanted) { return entry->key() < wanted; });
  return static_cast<std::size_t>(found - entries_.begin());
}

void PackedEntries::append_keys(std::vector<KeyAt>& out) const {
  if (!built()) {
    const std::lock_guard lock(mutex_);
    if (!built()) {
      out.push_back({std::string(first_->key()), first_->revision});
      return for_each_item([&](const Item& item, std::string_view key, std::string_view) {
        out.push_back({std::string(key), item.revision});
      });
    }
  }
  for (const ObjectRef& entry : entries_) out.push_back({std::string(entry->key()), entry->revision});
}

}  // namespace backplane

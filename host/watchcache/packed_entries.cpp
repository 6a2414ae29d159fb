#include "watchcache/packed_entries.hpp"

#include "base/heap_room.hpp"

namespace backplane {

namespace {
constexpr std::size_t kEntryRoom = 500;  // of an entry without its JSON
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

void PackedEntries::build() const {
  const std::lock_guard lock(mutex_);
  if (built_.load(std::memory_order_relaxed)) return;
  make_heap_room(text_.size() + size_ * kEntryRoom);
  std::vector<ObjectRef> entries;
  entries.reserve(size_);
  entries.push_back(first_);
  for_each_item([&](const Item& item, std::string_view key, std::string_view value) {
    entries.push_back(builder_->build(key, value, item.revision, item.type));
  });
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

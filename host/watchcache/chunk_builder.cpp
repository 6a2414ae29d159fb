#include "watchcache/chunk_builder.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <thread>

#include "base/heap_room.hpp"

namespace backplane {

namespace {
// The number of objects that one task decodes and packs.
constexpr std::size_t kChunk = 16 * PackedEntries::kMost;
// The maximum number of tasks in progress: enough to keep the pool busy while a page is being read.
const std::size_t kUnderWay = std::clamp<std::size_t>(std::thread::hardware_concurrency() + 1, 3, 8);
}  // namespace

struct ChunkBuilder::Chunk {
  std::vector<KeyValue> items;
  std::vector<std::shared_ptr<const PackedEntries>> runs;
  std::size_t bytes = 0;  // of the objects
  Unreadable unreadable;
  std::exception_ptr error;
  Promise<bool> done;

  // Decodes the values from index `at` on.  Returns the index of the first value whose decoding must wait (ObjectStorage::read); if no
  // value must wait, packs the objects and returns items.size().
  std::size_t build(const std::shared_ptr<const EntryBuilder>& builder, const ObjectStorage& storage, std::size_t at) {
    const std::size_t read = storage.read_now(items, at);
    if (read == items.size()) pack(builder);
    return read;
  }

 private:
  void pack(const std::shared_ptr<const EntryBuilder>& builder) {
    for (const KeyValue& stored : items) {
      bytes += stored.value.size();
      if (stored.unreadable) unreadable.emplace(stored.key, stored.unreadable);
    }
    std::erase_if(items, [](const KeyValue& stored) { return stored.unreadable != nullptr; });
    make_heap_room(bytes);
    for (std::span<const KeyValue> rest(items); !rest.empty();) {
      const std::size_t count = std::min(rest.size(), PackedEntries::kMost);
      runs.push_back(std::make_shared<const PackedEntries>(builder, rest.first(count)));
      rest = rest.subspan(count);
    }
    items.clear();
  }
};

Task<void> ChunkBuilder::build(std::shared_ptr<const EntryBuilder> builder, const ObjectStorage& storage, std::shared_ptr<Chunk> chunk) {
  const std::size_t items = chunk->items.size();
  try {
    for (std::size_t at = 0;;) {
      auto building = run_blocking([&] { at = chunk->build(builder, storage, at); });
      co_await std::move(building);
      if (at == items) break;
      auto waiting = storage.read_some(chunk->items, at);
      at = co_await std::move(waiting);
    }
  } catch (...) {
    chunk->error = std::current_exception();
  }
  chunk->done.set(true);
}

bool ChunkBuilder::begin(std::vector<KeyValue> items) {
  auto chunk = std::make_shared<Chunk>();
  chunk->items = std::move(items);
  if (!tasks_.spawn(executor_, "build entries", build(builder_, storage_, chunk))) return false;
  pending_.push_back(std::move(chunk));
  return true;
}

Task<Status> ChunkBuilder::add(std::vector<KeyValue> items, LoadedObjects& loaded) {
  for (std::size_t at = 0; at < items.size(); at += kChunk) {
    if (pending_.size() >= kUnderWay) {
      auto taking = take_first(loaded);
      co_await std::move(taking);
    }
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = items.begin() + static_cast<std::ptrdiff_t>(std::min(at + kChunk, items.size()));
    std::vector<KeyValue> part(std::make_move_iterator(from), std::make_move_iterator(to));
    if (!begin(std::move(part))) co_return service_unavailable("the caches are stopping");
  }
  co_return Status();
}

Task<void> ChunkBuilder::take_first(LoadedObjects& loaded) {
  const auto chunk = std::move(pending_.front());
  pending_.pop_front();
  const bool done = co_await chunk->done.future();
  (void)done;
  if (chunk->error) std::rethrow_exception(chunk->error);
  for (auto& run : chunk->runs) loaded.index.append(std::move(run));
  loaded.bytes += chunk->bytes;
  loaded.unreadable.merge(chunk->unreadable);
}

Task<void> ChunkBuilder::finish(LoadedObjects& loaded) {
  while (!pending_.empty()) {
    auto taking = take_first(loaded);
    co_await std::move(taking);
  }
}

}  // namespace backplane

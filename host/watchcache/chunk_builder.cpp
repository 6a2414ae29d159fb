#include "watchcache/chunk_builder.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/heap_room.hpp"

namespace backplane {

namespace {
constexpr std::size_t kEntry = 1000;  // of an entry without its text
constexpr std::size_t kChunk = 500;   // objects that one thread makes entries of in one go
// Enough for the pool to have work while a page is on its way.
const std::size_t kUnderWay = std::clamp<std::size_t>(std::thread::hardware_concurrency() + 1, 3, 8);
}  // namespace

struct ChunkBuilder::Chunk {
  std::vector<KeyValue> items;
  std::vector<ObjectRef> entries;
  Unreadable unreadable;
  std::exception_ptr error;
  Promise<bool> done;

  // What the entries of the items take, about.
  std::size_t room() const {
    std::size_t bytes = 0;
    for (const KeyValue& stored : items) bytes += stored.value.size() + kEntry;
    return bytes;
  }

  // Decodes from `at` on, and makes the entries if no value must wait.  Returns the index of the first value that must.
  std::size_t build(const ResourceCache& cache, const ObjectStorage& storage, std::size_t at) {
    const std::size_t read = storage.read_now(items, at);
    if (read == items.size()) make_entries(cache);
    return read;
  }

 private:
  void make_entries(const ResourceCache& cache) {
    make_heap_room(room());
    entries.reserve(items.size());
    for (KeyValue& stored : items) {
      if (stored.unreadable) {
        unreadable.emplace(std::move(stored.key), std::move(stored.unreadable));
      } else {
        entries.push_back(cache.make_entry(stored));
      }
    }
    items = {};
  }
};

Task<void> ChunkBuilder::build(std::shared_ptr<const ResourceCache> cache, const ObjectStorage& storage, std::shared_ptr<Chunk> chunk) {
  const std::size_t items = chunk->items.size();
  try {
    for (std::size_t at = 0;;) {
      auto building = run_blocking([&] { at = chunk->build(*cache, storage, at); });
      co_await std::move(building);
      if (at == items) break;
      auto waiting = storage.read(chunk->items[at]);
      co_await std::move(waiting);
      ++at;
    }
  } catch (...) {
    chunk->error = std::current_exception();
  }
  chunk->done.set(true);
}

bool ChunkBuilder::begin(std::vector<KeyValue> items) {
  auto chunk = std::make_shared<Chunk>();
  chunk->items = std::move(items);
  if (!tasks_.spawn(executor_, "build entries", build(cache_, storage_, chunk))) return false;
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
  for (auto& entry : chunk->entries) loaded.index.append(std::move(entry));
  loaded.unreadable.merge(chunk->unreadable);
}

Task<void> ChunkBuilder::finish(LoadedObjects& loaded) {
  while (!pending_.empty()) {
    auto taking = take_first(loaded);
    co_await std::move(taking);
  }
}

}  // namespace backplane

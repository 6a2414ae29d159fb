#include "watchcache/chunk_builder.hpp"

#include <algorithm>
#include <thread>

namespace backplane {

namespace {
// Enough for the pool to have work while a page is on its way; each holds a page.
const std::size_t kUnderWay = std::clamp<std::size_t>(std::thread::hardware_concurrency() + 1, 3, 8);
}  // namespace

struct ChunkBuilder::Chunk {
  std::vector<KeyValue> items;
  std::vector<ObjectRef> entries;
  Unreadable unreadable;
  std::exception_ptr error;
  Promise<bool> done;

  void build(const ResourceCache& cache, const StoredPages* pages) {
    try {
      if (pages != nullptr) pages->read(items);
      entries.reserve(items.size());
      for (KeyValue& stored : items) {
        if (stored.unreadable) {
          unreadable.emplace(std::move(stored.key), std::move(stored.unreadable));
        } else {
          entries.push_back(cache.make_entry(stored));
        }
      }
      items = {};
    } catch (...) {
      error = std::current_exception();
    }
  }
};

Task<void> ChunkBuilder::build(std::shared_ptr<const ResourceCache> cache, const StoredPages* pages, std::shared_ptr<Chunk> chunk) {
  try {
    auto building = run_blocking([cache, pages, chunk] { chunk->build(*cache, pages); });
    co_await std::move(building);
  } catch (...) {
    chunk->error = std::current_exception();
  }
  chunk->done.set(true);
}

Task<Status> ChunkBuilder::add(std::vector<KeyValue> items, LoadedObjects& loaded) {
  if (pending_.size() >= kUnderWay) {
    auto taking = take_first(loaded);
    co_await std::move(taking);
  }
  auto chunk = std::make_shared<Chunk>();
  chunk->items = std::move(items);
  if (!tasks_.spawn(executor_, "build entries", build(cache_, pages_, chunk))) co_return service_unavailable("the caches are stopping");
  pending_.push_back(std::move(chunk));
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

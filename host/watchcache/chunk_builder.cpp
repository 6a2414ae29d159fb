#include "watchcache/chunk_builder.hpp"

namespace backplane {

namespace {
constexpr std::size_t kUnderWay = 3;
}  // namespace

struct ChunkBuilder::Chunk {
  std::vector<KeyValue> items;
  std::vector<ObjectRef> entries;
  std::exception_ptr error;
  Promise<bool> done;

  void build(const ResourceCache& cache) {
    try {
      entries.reserve(items.size());
      for (const auto& stored : items) entries.push_back(cache.make_entry(stored));
      items = {};
    } catch (...) {
      error = std::current_exception();
    }
  }
};

Task<void> ChunkBuilder::build(std::shared_ptr<const ResourceCache> cache, std::shared_ptr<Chunk> chunk) {
  try {
    auto building = run_blocking([cache, chunk] { chunk->build(*cache); });
    co_await std::move(building);
  } catch (...) {
    chunk->error = std::current_exception();
  }
  chunk->done.set(true);
}

Task<Status> ChunkBuilder::add(std::vector<KeyValue> items, ObjectIndex& index) {
  if (pending_.size() >= kUnderWay) {
    auto taking = take_first(index);
    co_await std::move(taking);
  }
  auto chunk = std::make_shared<Chunk>();
  chunk->items = std::move(items);
  if (!tasks_.spawn(executor_, "build entries", build(cache_, chunk))) co_return service_unavailable("the caches are stopping");
  pending_.push_back(std::move(chunk));
  co_return Status();
}

Task<void> ChunkBuilder::take_first(ObjectIndex& index) {
  const auto chunk = std::move(pending_.front());
  pending_.pop_front();
  const bool done = co_await chunk->done.future();
  (void)done;
  if (chunk->error) std::rethrow_exception(chunk->error);
  for (auto& entry : chunk->entries) index.append(std::move(entry));
}

Task<void> ChunkBuilder::finish(ObjectIndex& index) {
  while (!pending_.empty()) {
    auto taking = take_first(index);
    co_await std::move(taking);
  }
}

}  // namespace backplane

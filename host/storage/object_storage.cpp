#include "storage/object_storage.hpp"

namespace backplane {

Task<std::size_t> ObjectStorage::read_some(std::vector<KeyValue>& items, std::size_t from) const {
  auto reading = read(items[from]);
  co_await std::move(reading);
  co_return from + 1;
}

Task<Result<ObjectStorage::Compared>> ObjectStorage::compare(std::string key, SharedBytes) {
  RangeRequest request;
  request.start = std::move(key);
  auto reading = range(std::move(request));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return std::move(found.status());
  Compared compared;
  compared.result = std::move(*found);
  co_return compared;
}

}  // namespace backplane

#include "storage/object_storage.hpp"

namespace backplane {

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

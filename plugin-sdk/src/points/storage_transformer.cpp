#include "backplane/points/storage_transformer.hpp"

namespace backplane BACKPLANE_API {

StorageTransformer::~StorageTransformer() = default;
StorageTransformers::~StorageTransformers() = default;
std::optional<Result<SharedBytes>> StorageTransformer::to_storage_now(std::string_view, const SharedBytes&) const { return std::nullopt; }
std::optional<Result<StorageTransformer::Plain>> StorageTransformer::from_storage_now(std::string_view, const SharedBytes&) const {
  return std::nullopt;
}

Task<Result<SharedBytes>> StorageTransformer::to_storage(std::string key, SharedBytes bytes) const {
  auto stored = to_storage_now(key, bytes);
  if (!stored) co_return internal_error("the storage transformer overrides neither to_storage_now() nor to_storage()");
  co_return std::move(*stored);
}
Task<Result<StorageTransformer::Plain>> StorageTransformer::from_storage(std::string key, SharedBytes bytes) const {
  auto plain = from_storage_now(key, bytes);
  if (!plain) co_return internal_error("the storage transformer overrides neither from_storage_now() nor from_storage()");
  co_return std::move(*plain);
}

}  // namespace BACKPLANE_API

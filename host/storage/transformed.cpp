#include "storage/transformed.hpp"

#include "base/caught.hpp"

namespace backplane {
namespace {

using Plain = StorageTransformer::Plain;

Status thrown() { return internal_error("the storage transformer threw: " + caught().what); }

// In place of transformers that cannot be asked.
class Failed final : public StorageTransformer {
 public:
  explicit Failed(Status why) : why_(std::move(why)) {}
  std::optional<Result<SharedBytes>> to_storage_now(std::string_view, const SharedBytes&) const override {
    return Result<SharedBytes>(why_);
  }
  std::optional<Result<Plain>> from_storage_now(std::string_view, const SharedBytes&) const override { return Result<Plain>(why_); }

 private:
  const Status why_;
};

std::optional<Result<SharedBytes>> to_storage_now(const StorageTransformer& transformer, std::string_view key, const SharedBytes& bytes) {
  try {
    return transformer.to_storage_now(key, bytes);
  } catch (...) {
    return Result<SharedBytes>(thrown());
  }
}

// Awaits a task of a plugin, which may resume anywhere.
template <class T>
Task<Result<T>> fenced(Task<Result<T>> task) {
  Executor* const executor = current_executor();
  Result<T> result;
  try {
    result = co_await std::move(task);
  } catch (...) {
    result = thrown();
  }
  if (executor != nullptr) co_await resume_on(*executor);
  co_return result;
}

}  // namespace

TransformerRef find_transformer(const StorageTransformers& transformers, const GroupResource& resource) {
  try {
    return transformers.find(resource);
  } catch (...) {
    return std::make_shared<Failed>(thrown());
  }
}

std::optional<Result<Plain>> from_storage_now(const TransformerRef& transformer, std::string_view key, const SharedBytes& bytes) {
  if (transformer == nullptr) return Result<Plain>(Plain{bytes});
  try {
    return transformer->from_storage_now(key, bytes);
  } catch (...) {
    return Result<Plain>(thrown());
  }
}

Task<Result<Plain>> from_storage(TransformerRef transformer, std::string key, SharedBytes bytes) {
  if (auto plain = from_storage_now(transformer, key, bytes)) co_return std::move(*plain);
  Result<Plain> plain;
  try {
    auto reading = fenced(transformer->from_storage(std::move(key), std::move(bytes)));
    plain = co_await std::move(reading);
  } catch (...) {
    plain = thrown();
  }
  co_return plain;
}

Task<Result<SharedBytes>> to_storage(TransformerRef transformer, std::string key, SharedBytes bytes) {
  if (transformer == nullptr) co_return bytes;
  if (auto stored = to_storage_now(*transformer, key, bytes)) co_return std::move(*stored);
  Result<SharedBytes> stored;
  try {
    auto writing = fenced(transformer->to_storage(std::move(key), std::move(bytes)));
    stored = co_await std::move(writing);
  } catch (...) {
    stored = thrown();
  }
  co_return stored;
}

}  // namespace backplane

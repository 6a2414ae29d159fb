#include "storage/transformed.hpp"

#include "base/fenced.hpp"

namespace backplane {
namespace {

using Plain = StorageTransformer::Plain;

Status thrown(const Caught& error) { return internal_error("the storage transformer threw: " + error.what); }

// The value of a resource without a transformer. As upstream, a value that another server has encrypted is an error.
Result<Plain> as_stored(const SharedBytes& bytes) {
  constexpr std::string_view kEncrypted = "k8s:enc:";
  if (!bytes.view().starts_with(kEncrypted)) return Plain{bytes};
  return Status(500, Reason::kInternalError, "identity transformer tried to read encrypted data");
}

// The transformer that find_transformer() returns if find() throws: all calls fail.
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

}  // namespace

TransformerRef find_transformer(const StorageTransformers& transformers, const GroupResource& resource) {
  return fenced_now([&] { return transformers.find(resource); },
                    [](const Caught& error) -> TransformerRef { return std::make_shared<Failed>(thrown(error)); });
}

std::optional<Result<Plain>> from_storage_now(const TransformerRef& transformer, std::string_view key, const SharedBytes& bytes) {
  if (transformer == nullptr) return as_stored(bytes);
  return fenced_now([&] { return transformer->from_storage_now(key, bytes); },
                    [](const Caught& error) { return std::optional(Result<Plain>(thrown(error))); });
}

Task<Result<Plain>> from_storage(TransformerRef transformer, std::string key, SharedBytes bytes) {
  if (auto plain = from_storage_now(transformer, key, bytes)) co_return std::move(*plain);
  auto reading = fenced<Result<Plain>>([&] { return transformer->from_storage(key, bytes); },
                                       [](const Caught& error) { return Result<Plain>(thrown(error)); });
  auto plain = co_await std::move(reading);
  co_return plain;
}

Task<Result<SharedBytes>> to_storage(TransformerRef transformer, std::string key, SharedBytes bytes) {
  if (transformer == nullptr) co_return bytes;
  auto stored = fenced_now([&] { return transformer->to_storage_now(key, bytes); },
                           [](const Caught& error) { return std::optional(Result<SharedBytes>(thrown(error))); });
  if (stored) co_return std::move(*stored);
  auto writing = fenced<Result<SharedBytes>>([&] { return transformer->to_storage(key, bytes); },
                                             [](const Caught& error) { return Result<SharedBytes>(thrown(error)); });
  auto written = co_await std::move(writing);
  co_return written;
}

}  // namespace backplane

#include "storage/published_transformers.hpp"

namespace backplane {

Status PublishedTransformers::set(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers) {
  const std::lock_guard lock(mutex_);
  if (!owner_.empty() && owner_ != owner) {
    return Status(Reason::kAlreadyExists, "storage transformers are already registered by " + owner_);
  }
  owner_ = transformers != nullptr ? owner : std::string();
  transformers_.set(std::move(transformers));
  return {};
}

void PublishedTransformers::use_rows(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers) {
  const std::lock_guard lock(mutex_);
  if (transformers == rows_) return;
  rows_ = transformers;
  owner_ = owner;
  transformers_.set(std::move(transformers));
}

}  // namespace backplane

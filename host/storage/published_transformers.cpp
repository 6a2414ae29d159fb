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

}  // namespace backplane

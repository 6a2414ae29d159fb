#include "storage/backend_key.hpp"

#include "backplane/points/storage.hpp"

namespace backplane {
BackendKeys::BackendKeys(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  root_ = prefix.empty() ? std::string(kStorageKeyRoot) : "/" + std::string(prefix);
}

std::string BackendKeys::of(std::string_view key) const {
  return key.starts_with(kStorageKeyRoot) ? root_ + std::string(key.substr(kStorageKeyRoot.size())) : std::string(key);
}

}  // namespace backplane

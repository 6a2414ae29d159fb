#include "storage/backend_key.hpp"

namespace backplane {
namespace {

constexpr std::string_view kRoot = "/registry";

}  // namespace

BackendKeys::BackendKeys(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  root_ = prefix.empty() ? std::string(kRoot) : "/" + std::string(prefix);
}

std::string BackendKeys::of(std::string_view key) const {
  return key.starts_with(kRoot) ? root_ + std::string(key.substr(kRoot.size())) : std::string(key);
}

}  // namespace backplane

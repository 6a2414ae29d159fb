#include "storage/backend_key.hpp"

namespace backplane {
namespace {

constexpr std::string_view kRoot = "/registry";

// What a process has once: every store of it has the same prefix.
std::string& backend_root() {
  static std::string root(kRoot);
  return root;
}

}  // namespace

void name_backend_keys_by(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  backend_root() = prefix.empty() ? std::string(kRoot) : "/" + std::string(prefix);
}

std::string backend_key(std::string_view key) {
  return key.starts_with(kRoot) ? backend_root() + std::string(key.substr(kRoot.size())) : std::string(key);
}

}  // namespace backplane

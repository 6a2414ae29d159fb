#include "registry/store_keys.hpp"

#include "backplane/types/names.hpp"

namespace backplane::registry {
namespace {

std::string joined(const Problems& problems) {
  std::string text;
  for (const std::string& problem : problems) {
    if (!text.empty()) text += ';';
    text += problem;
  }
  return text;
}

}  // namespace

Result<std::string> StoreKeys::key(std::string_view ns, std::string_view name) const {
  if (namespaced_ && ns.empty()) return bad_request("Namespace parameter required.");
  if (name.empty()) return bad_request("Name parameter required.");
  const Problems problems = is_path_segment_name(name);
  if (!problems.empty()) return bad_request("Name parameter invalid: " + quoted(name) + ": " + joined(problems));

  std::string key;
  key.reserve(root_.size() + ns.size() + 1 + name.size());
  key += root_;
  if (namespaced_) {
    key += ns;
    key += '/';
  }
  key += name;
  return key;
}

std::string_view StoreKeys::shown(std::string_view key, bool dry_run) noexcept {
  if (dry_run && key.substr(0, kStorageKeyRoot.size()) == kStorageKeyRoot) key.remove_prefix(kStorageKeyRoot.size());
  return key;
}

}  // namespace backplane::registry

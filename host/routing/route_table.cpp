#include "routing/route_table.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "endpoints/resource_handler.hpp"

namespace backplane {
namespace {

std::string sha512_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha512(), nullptr);
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(size * 2);
  for (unsigned int i = 0; i < size; ++i) {
    out.push_back(kHex[digest[i] >> 4]);
    out.push_back(kHex[digest[i] & 15]);
  }
  return out;
}

// A subresource has its parent's scope unless it says otherwise.
bool scope_of(RestStorage& storage, const std::map<std::string, std::shared_ptr<RestStorage>>& storages, const std::string& parent) {
  if (auto* scoper = dynamic_cast<Scoper*>(&storage)) return scoper->namespaced();
  if (auto it = storages.find(parent); it != storages.end()) {
    if (auto* scoper = dynamic_cast<Scoper*>(it->second.get())) return scoper->namespaced();
  }
  return true;
}

// Custom resources name their verbs in an order of their own.
void order_published_verbs(std::vector<std::string>& verbs) {
  static constexpr std::array<std::string_view, 8> kOrder = {"delete", "deletecollection", "get",    "list",
                                                             "patch",  "create",           "update", "watch"};
  const auto rank = [](const std::string& verb) { return std::find(kOrder.begin(), kOrder.end(), verb) - kOrder.begin(); };
  std::stable_sort(verbs.begin(), verbs.end(), [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

}  // namespace

const LazyDocument::Made& LazyDocument::get(const std::function<std::string()>& make) const {
  std::call_once(once_, [&] {
    std::string text = make();
    made_.hash = sha512_hex(text);
    made_.bytes = SharedBytes(std::move(text));
  });
  return made_;
}

const VersionTable* RouteTable::find(const std::string& group, const std::string& version) const {
  std::string key;
  key.reserve(group.size() + version.size() + 1);
  key.append(group).append("/").append(version);
  auto it = versions.find(key);
  return it == versions.end() ? nullptr : it->second.get();
}

std::shared_ptr<VersionTable> make_version_table(const GroupVersion& version, const std::string& delegate,
                                                 const std::map<std::string, std::shared_ptr<RestStorage>>& storages,
                                                 std::shared_ptr<const SchemaSet> schemas, const HandlerFactory& handler_of, bool dynamic) {
  auto table = std::make_shared<VersionTable>();
  table->version = version;
  table->delegate = delegate;
  table->dynamic = dynamic;
  table->schemas = std::move(schemas);
  for (const auto& [path, storage] : storages) {
    const auto slash = path.find('/');
    ResourceRow row;
    row.resource = path.substr(0, slash);
    row.subresource = slash == std::string::npos ? "" : path.substr(slash + 1);
    row.namespaced = scope_of(*storage, storages, row.resource);
    row.takes_path = dynamic_cast<Connecter*>(storage.get()) != nullptr;
    row.kind = storage->kind();
    row.storage = storage;
    row.verbs = discovery_verbs(*storage, !row.subresource.empty());
    if (dynamic) order_published_verbs(row.verbs);
    row.handler = handler_of(row, version);
    table->rows.emplace(path, std::move(row));
  }
  return table;
}

}  // namespace backplane

#include "routing/route_table.hpp"

#include <algorithm>
#include <array>

#include "backplane/rest/connect.hpp"
#include "endpoints/resource_handler.hpp"
#include "routing/discovery.hpp"

namespace backplane {
namespace {

// A subresource has the scope of its parent resource unless it is a Scoper itself.
bool scope_of(RestStorage& storage, const Storages& storages, const std::string& parent) {
  if (auto* scoper = role_of<Scoper>(&storage)) return scoper->namespaced();
  if (auto it = storages.find(parent); it != storages.end()) {
    if (auto* scoper = role_of<Scoper>(it->second)) return scoper->namespaced();
  }
  return true;
}

// Discovery lists the verbs of custom resources in another order than those of built-in resources.
void order_published_verbs(std::vector<std::string>& verbs) {
  static constexpr std::array<std::string_view, 8> kOrder = {"delete", "deletecollection", "get",    "list",
                                                             "patch",  "create",           "update", "watch"};
  const auto rank = [](const std::string& verb) { return std::find(kOrder.begin(), kOrder.end(), verb) - kOrder.begin(); };
  std::stable_sort(verbs.begin(), verbs.end(), [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

bool higher(const GroupEntry* a, const GroupEntry* b) { return a->priority != b->priority ? a->priority > b->priority : a->name < b->name; }

}  // namespace

const VersionTable* GroupEntry::find(std::string_view version) const noexcept {
  const auto found =
      std::find_if(versions.begin(), versions.end(), [&](const VersionRef& each) { return each->version.version == version; });
  return found == versions.end() ? nullptr : found->get();
}

const std::string& GroupEntry::aggregated() const {
  std::call_once(aggregated_once_, [this] { aggregated_ = aggregated_group(*this); });
  return aggregated_;
}

Status FixedPaths::add(const PathRoute& route, const std::string& registrant) {
  const auto taken = [&](const char* what, const std::string& by) {
    return Status(Reason::kAlreadyExists, std::string(what) + quoted(route.path) + " is handled by plugin " + quoted(by) +
                                              " already; plugin " + quoted(registrant) + " cannot handle it too");
  };
  if (!route.prefix) {
    auto [it, added] = exact.emplace(route.path, PathRow{route, registrant});
    return added ? Status() : taken("path ", it->second.registrant);
  }
  for (const auto& row : prefixes) {
    if (row.route.path == route.path) return taken("path prefix ", row.registrant);
  }
  prefixes.push_back({route, registrant});
  std::stable_sort(prefixes.begin(), prefixes.end(),
                   [](const PathRow& a, const PathRow& b) { return a.route.path.size() > b.route.path.size(); });
  return {};
}

const GroupEntry* RouteTable::group(std::string_view name) const noexcept {
  const GroupRef* found = groups.find(name);
  return found ? found->get() : nullptr;
}

const VersionTable* RouteTable::find(std::string_view group_name, std::string_view version) const noexcept {
  const GroupEntry* found = group(group_name);
  return found ? found->find(version) : nullptr;
}

VersionRef RouteTable::find_shared(std::string_view group_name, std::string_view version) const noexcept {
  const GroupEntry* found = group(group_name);
  if (found == nullptr) return nullptr;
  const auto each =
      std::find_if(found->versions.begin(), found->versions.end(), [&](const VersionRef& one) { return one->version.version == version; });
  return each == found->versions.end() ? nullptr : *each;
}

std::vector<const GroupEntry*> RouteTable::named_groups() const {
  std::vector<const GroupEntry*> out;
  out.reserve(groups.size());
  groups.each([&](const std::string& name, const GroupRef& entry) {
    if (!name.empty()) out.push_back(entry.get());
  });
  std::stable_sort(out.begin(), out.end(), higher);
  return out;
}

std::vector<const VersionTable*> RouteTable::versions() const {
  std::vector<const VersionTable*> out;
  groups.each([&](const std::string&, const GroupRef& entry) {
    for (const auto& version : entry->versions) out.push_back(version.get());
  });
  return out;
}

Rows with_rows(Rows rows, const GroupVersion& version, const Storages& storages, const std::shared_ptr<const SchemaSet>& schemas,
               const std::string& identity, const HandlerFactory& handler_of, bool dynamic) {
  for (const auto& [path, storage] : storages) {
    const auto slash = path.find('/');
    auto row = std::make_shared<ResourceRow>();
    row->resource = path.substr(0, slash);
    row->subresource = slash == std::string::npos ? "" : path.substr(slash + 1);
    row->namespaced = scope_of(*storage, storages, row->resource);
    row->connects = role_of<Connecter>(storage) != nullptr;
    const auto* with_options = role_of<OptionConnecter>(storage);
    row->takes_path = with_options != nullptr ? with_options->takes_path() : row->connects;
    row->kind = storage->kind();
    row->storage = storage;
    row->verbs = discovery_verbs(*storage, !row->subresource.empty());
    if (dynamic) order_published_verbs(row->verbs);
    row->schemas = schemas;
    row->identity = identity;
    row->handler = handler_of(*row, version);
    rows = rows.with(path, std::move(row));
  }
  return rows;
}

Rows without_resource(Rows rows, const std::string& resource) {
  std::vector<std::string> paths{resource};
  rows.each_from(resource + "/", [&](const std::string&, const RowRef& row) {
    if (row->resource != resource) return false;
    paths.push_back(row->resource + "/" + row->subresource);
    return true;
  });
  for (const std::string& path : paths) rows = rows.without(path);
  return rows;
}

}  // namespace backplane

#include "plugin/group_snapshot.hpp"

#include <algorithm>

#include "backplane/kit/table.hpp"
#include "backplane/rest/connect.hpp"
#include "backplane/rest/roles.hpp"
#include "plugin/inlined_schema.hpp"
#include "registry/completed_config.hpp"
#include "routing/delegation.hpp"

namespace backplane {
namespace {

// Columns that functions of the plugin compute, and that the host can also compute.
struct KnownColumn {
  std::string_view name, path;
  PrintFound print;
};
constexpr KnownColumn kKnownColumns[] = {{"Name", ".metadata.name", nullptr},
                                         {"Age", ".metadata.creationTimestamp", kit::show_age},
                                         {"Created At", ".metadata.creationTimestamp", nullptr}};

// The columns that the host can show: those with a path, and those of kKnownColumns.
std::vector<TableColumn> plain_columns(const Strategy& strategy) {
  std::vector<TableColumn> out;
  for (TableColumn column : strategy.table_convertor().columns()) {
    const auto known =
        std::find_if(std::begin(kKnownColumns), std::end(kKnownColumns), [&](const auto& each) { return each.name == column.name; });
    if (column.path.empty() && known == std::end(kKnownColumns)) continue;
    if (column.path.empty()) {
      column.path = known->path;
      column.print = known->print;
    }
    column.cells = nullptr;
    out.push_back(std::move(column));
  }
  return out;
}

using Paths = std::map<std::string, std::shared_ptr<RestStorage>>;

// The resource in the stored version, or in another one if that is not served.
const Paths* served_paths(const APIGroupInfo& group, const KindSnapshot& kind) {
  const auto own = group.storages.find(kind.kind.version);
  if (own != group.storages.end() && own->second.contains(kind.resource)) return &own->second;
  for (const auto& [_, paths] : group.storages) {
    if (paths.contains(kind.resource)) return &paths;
  }
  return nullptr;
}

void add_group_facts(KindSnapshot& kind, const APIGroupInfo& group, const Paths& paths) {
  kind.group_priority = group.group_priority_minimum;
  const auto priority = group.version_priorities.find(kind.kind.version);
  kind.version_priority = priority != group.version_priorities.end() ? priority->second : group.version_priority;
  const std::string below = kind.resource + "/";
  for (auto each = paths.lower_bound(below); each != paths.end() && each->first.starts_with(below); ++each) {
    kind.subresources.push_back(subresource_snapshot(each->first.substr(below.size()), each->second));
  }
}

}  // namespace

SubresourceSnapshot subresource_snapshot(std::string name, const std::shared_ptr<RestStorage>& storage) {
  SubresourceSnapshot out;
  out.name = std::move(name);
  out.kind = storage->kind();
  out.reads = role_of<Getter>(storage) != nullptr;
  out.updates = role_of<Updater>(storage) != nullptr;
  out.creates = role_of<NamedCreater>(storage) != nullptr || role_of<ValidatedCreater>(storage) != nullptr;
  out.creates = out.creates || role_of<Creater>(storage) != nullptr;
  if (auto* connecter = role_of<Connecter>(storage)) out.methods = connecter->connect_methods();
  if (role_of<StreamGetter>(storage) != nullptr) out.methods.emplace_back("GET");
  if (role_of<GracefulDeleter>(storage) != nullptr) out.methods.emplace_back("DELETE");
  return out;
}

StoredKindFacts stored_kind_facts(const ResourceConfig& given) {
  const ResourceConfig config = registry::completed(given);
  const KindFacts& known = config.strategy->facts();
  KindSnapshot kind;
  kind.kind = config.kind;
  kind.resource = config.resource;
  kind.singular = config.singular;
  kind.list_kind = config.list_kind;
  kind.storage_prefix = config.storage_prefix;
  kind.short_names = config.short_names;
  kind.categories = config.categories;
  kind.namespaced = known.namespaced;
  kind.fields = known.selectable;
  kind.columns = plain_columns(*config.strategy);
  if (config.schema != nullptr) kind.definition = config.schema->name();
  return {std::move(kind), config.schemas};
}

std::vector<KindSnapshot> kinds_of(const std::vector<StoredKindFacts>& stored, const DelegationTarget& target) {
  std::vector<KindSnapshot> out;
  for (const StoredKindFacts& each : stored) {
    const auto group = std::find_if(target.groups.begin(), target.groups.end(),
                                    [&](const APIGroupInfo& info) { return info.group == each.facts.kind.group; });
    const Paths* paths = group != target.groups.end() ? served_paths(*group, each.facts) : nullptr;
    if (paths == nullptr) continue;
    KindSnapshot kind = each.facts;
    add_group_facts(kind, *group, *paths);
    if (each.schemas != nullptr) kind.schema = inlined_schema(*each.schemas, kind.definition, kind.kind.group_version());
    out.push_back(std::move(kind));
  }
  return out;
}

}  // namespace backplane

#include "plugin/retained_groups.hpp"

#include <algorithm>
#include <map>

#include "backplane/rest/api_group.hpp"
#include "endpoints/open_watches.hpp"
#include "plugin/log.hpp"

namespace backplane {
namespace {

constexpr std::string_view kOpenSchema = R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})";

std::shared_ptr<const SchemaSet> custom_set(const KindSnapshot& kind, std::string schema) {
  const std::string definition =
      kind.definition.empty() ? kind.kind.group + "." + kind.kind.version + "." + kind.kind.kind : kind.definition;
  return SchemaSet::custom(kind.kind, definition, [text = SharedBytes(std::move(schema))] { return text; });
}

// The type of a kind whose schema was not recorded.
std::shared_ptr<const SchemaSet> open_type(const GroupVersionKind& kind) {
  KindSnapshot unknown;
  unknown.kind = kind;
  return custom_set(unknown, std::string(kOpenSchema));
}

// Whether OpenAPI documents need a type for the kind of the subresource.
bool is_undescribed(const SubresourceSnapshot& subresource, const KindSnapshot& kind) {
  return subresource.kind != kind.kind && meta_schemas()->find(subresource.kind) == nullptr;
}

// The schema is structural and open, so that objects are read and written as they are stored. The schema in the snapshot is used for
// OpenAPI documents only.
ResourceConfig config_of(const KindSnapshot& kind) {
  KindFacts facts;
  facts.namespaced = kind.namespaced;
  facts.name_rule = NameRule::kPathSegment;
  facts.any_finalizer_names = true;
  facts.selectable = kind.fields;
  facts.columns = kind.columns;
  ResourceConfig config;
  config.kind = kind.kind;
  config.resource = kind.resource;
  config.singular = kind.singular;
  config.list_kind = kind.list_kind;
  config.short_names = kind.short_names;
  config.categories = kind.categories;
  config.storage_prefix = kind.storage_prefix;
  config.schemas = custom_set(kind, std::string(kOpenSchema));
  config.schema = config.schemas->find(kind.kind);
  config.strategy = std::make_shared<Strategy>(std::move(facts));
  return config;
}

struct VersionParts {
  std::map<std::string, std::shared_ptr<RestStorage>> storages;
  std::vector<std::shared_ptr<const SchemaSet>> types;
  int priority = 0;
};
struct GroupParts {
  std::map<std::string, VersionParts> versions;
  int priority = 0;
};

void add_kind(GroupParts& group, const KindSnapshot& kind, const PluginAbsenceRef& absence, StoreEnvironment& stores) {
  auto store = make_store(stores, config_of(kind));
  if (!store.ok()) {
    plugin_log().error("a resource of an absent plugin is not served plugin={} resource={}.{} error={:?}", absence->plugin, kind.resource,
                       kind.kind.group, store.status().message());
    return;
  }
  VersionParts& version = group.versions[kind.kind.version];
  version.priority = std::max(version.priority, kind.version_priority);
  group.priority = std::max(group.priority, kind.group_priority);
  version.storages[kind.resource] = make_retained_storage(*store, absence, kind);
  for (const SubresourceSnapshot& each : kind.subresources) {
    version.storages[kind.resource + "/" + each.name] = make_retained_subresource(*store, absence, kind, each);
    if (is_undescribed(each, kind)) version.types.push_back(open_type(each.kind));
  }
  version.types.push_back(custom_set(kind, kind.schema.empty() ? std::string(kOpenSchema) : kind.schema));
}

APIGroupInfo group_info(const std::string& name, GroupParts parts) {
  APIGroupInfo info;
  info.group = name;
  info.group_priority_minimum = parts.priority;
  for (auto& [version, each] : parts.versions) {
    info.prioritized_versions.push_back(version);
    info.version_priorities[version] = each.priority;
    info.storages[version] = std::move(each.storages);
    constexpr std::string_view kNothing = R"({"definitions":{}})";
    auto schemas = SchemaSet::compile({&kNothing, 1}, std::move(each.types));
    if (schemas.ok()) info.schemas[version] = std::move(*schemas);
  }
  return info;
}

}  // namespace

TargetRef make_retained_target(const PluginSnapshot& snapshot, PluginAbsence absence, StoreEnvironment& stores, const IsServed& is_served) {
  const auto why = std::make_shared<const PluginAbsence>(std::move(absence));
  std::map<std::string, GroupParts> groups;
  for (const KindSnapshot& kind : snapshot.kinds) {
    if (!is_served(kind.kind.group_version())) add_kind(groups[kind.kind.group], kind, why, stores);
  }
  DelegationTarget target;
  target.name = snapshot.plugin;
  for (auto& [name, parts] : groups) {
    if (!parts.versions.empty()) target.groups.push_back(group_info(name, std::move(parts)));
  }
  if (target.groups.empty()) return nullptr;
  target.watches = std::make_shared<OpenWatches>();
  return std::make_shared<const DelegationTarget>(std::move(target));
}

}  // namespace backplane

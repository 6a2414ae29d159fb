#include "installed.hpp"

#include <algorithm>

#include "converter.hpp"
#include "custom_strategy.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// As upstream registers the groups of custom resources with the aggregator.
constexpr int kGroupPriority = 1000;
constexpr int kVersionPriority = 100;

ResourceConfig config_of(const std::shared_ptr<const CustomResource>& resource) {
  ResourceConfig config;
  config.kind = resource->stored().kind;
  config.resource = resource->plural;
  config.singular = resource->singular;
  config.short_names = resource->short_names;
  config.categories = resource->categories;
  config.schema = resource->stored().schema.root;
  config.schemas = resource->stored().schema.set;
  config.strategy = make_custom_strategy(resource);
  config.storage_prefix = resource->group + "/" + resource->plural;
  config.list_kind = resource->list_kind;
  return config;
}

// A served version: a view of the stored one, and so is the stored one itself, whose objects may be from before a change of the schema.
ResourceConfig view_of(const std::shared_ptr<const CustomResource>& resource, const CustomVersion& version, Revision refresh_until) {
  ResourceConfig config = config_of(resource);
  config.stored_kind = config.kind;
  config.kind = version.kind;
  config.schema = version.schema.root;
  config.schemas = version.schema.set;
  config.strategy = make_version_strategy(resource, version);
  config.converter = std::make_shared<const NoneConverter>(resource, version, refresh_until);
  config.deprecation_warning = version.deprecation_warning;
  return config;
}

Status add_version(Host& host, Installed& installed, const CustomVersion& version, Revision refresh_until) {
  const auto& resource = installed.resource;
  auto view = host.make_storage(view_of(resource, version, refresh_until));
  if (!view.ok()) return std::move(view.status());
  auto& paths = installed.paths[version.kind.version];
  paths[resource->plural] = make_custom_storage(*view, resource->plural, version.deprecation_warning, installed.terminating);
  if (version.has_status) {
    auto status = host.make_subresource(*view, make_custom_status_strategy(resource), make_version_status_strategy(resource, version));
    if (!status.ok()) return std::move(status.status());
    paths[resource->plural + "/status"] = std::move(*status);
  }
  if (version.scale) {
    auto scale = host.make_scale(*view, *version.scale);
    if (!scale.ok()) return std::move(scale.status());
    paths[resource->plural + "/scale"] = std::move(*scale);
  }
  return {};
}

}  // namespace

std::string fingerprint(const Object& crd) {
  std::string text(meta_text(crd, "uid"));
  if (const Value* spec = find(crd, "spec")) append_json(text, *spec);
  if (const Value* names = find(object_or_empty(crd, "status"), "acceptedNames")) append_json(text, *names);
  return text;
}

Result<InstalledRef> install_resource(Host& host, const Object& crd, Revision revision) {
  auto resource = read_resource(crd);
  if (!resource.ok()) return std::move(resource.status());
  auto installed = std::make_shared<Installed>();
  installed->made_from = fingerprint(crd);
  installed->resource = std::move(*resource);
  installed->terminating = std::make_shared<std::atomic<bool>>(false);
  auto store = host.make_storage(config_of(installed->resource));
  if (!store.ok()) return std::move(store.status());
  installed->store = std::move(*store);
  // A definition that was never changed has no objects from before.
  const Revision refresh_until = get_int_path(crd, "metadata.generation").value_or(1) > 1 ? revision : 0;
  for (const CustomVersion& version : installed->resource->versions) {
    if (!version.served) continue;
    Status added = add_version(host, *installed, version, refresh_until);
    if (!added.ok()) return added;
  }
  return InstalledRef(std::move(installed));
}

std::vector<APIGroupInfo> groups_of(const std::vector<InstalledRef>& all) {
  std::map<std::string, APIGroupInfo> groups;
  std::map<std::pair<std::string, std::string>, std::vector<std::shared_ptr<const SchemaSet>>> schemas;
  for (const InstalledRef& installed : all) {
    const std::string& name = installed->resource->group;
    APIGroupInfo& group = groups[name];
    group.group = name;
    group.group_priority_minimum = kGroupPriority;
    group.version_priority = kVersionPriority;
    for (const auto& [version, paths] : installed->paths) {
      group.storages[version].insert(paths.begin(), paths.end());
      schemas[{name, version}].push_back(installed->resource->find(version)->schema.set);
    }
  }
  std::vector<APIGroupInfo> out;
  for (auto& [name, group] : groups) {
    for (const auto& [version, paths] : group.storages) {
      group.prioritized_versions.push_back(version);
      auto& sets = schemas[{name, version}];
      // One set that finds the types of every resource of the version.
      auto joined = sets.size() == 1 ? Result<std::shared_ptr<const SchemaSet>>(sets.front()) : SchemaSet::compile({}, sets);
      if (joined.ok()) group.schemas[version] = std::move(*joined);
    }
    std::sort(group.prioritized_versions.begin(), group.prioritized_versions.end(), version_precedes);
    if (!group.prioritized_versions.empty()) out.push_back(std::move(group));
  }
  return out;
}

}  // namespace backplane::apiextensions

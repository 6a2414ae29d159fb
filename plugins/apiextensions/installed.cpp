#include "installed.hpp"

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
ResourceConfig view_of(const std::shared_ptr<const CustomResource>& resource, const CustomVersion& version,
                       std::shared_ptr<WebhookClient> webhook) {
  ResourceConfig config = config_of(resource);
  config.stored_kind = config.kind;
  config.kind = version.kind;
  config.schema = version.schema.root;
  config.schemas = version.schema.set;
  config.strategy = make_version_strategy(resource, version);
  config.converter = std::make_shared<const CustomConverter>(resource, version, std::move(webhook));
  config.deprecation_warning = version.deprecation_warning;
  return config;
}

Status add_version(Host& host, Installed& installed, const CustomVersion& version, const WriteBook& book,
                   std::shared_ptr<WebhookClient> webhook) {
  const auto& resource = installed.resource;
  auto view = host.make_storage(view_of(resource, version, std::move(webhook)));
  if (!view.ok()) return std::move(view.status());
  auto& paths = installed.paths[version.kind.version];
  paths[resource->plural] = make_custom_storage(*view, resource->plural, version.deprecation_warning, book, installed.watches);
  if (version.has_status) {
    auto status = host.make_subresource(*view, make_custom_status_strategy(resource), make_version_status_strategy(resource, version));
    if (!status.ok()) return std::move(status.status());
    paths[resource->plural + "/status"] = make_custom_subresource(std::move(*status), book);
  }
  if (version.scale) {
    auto scale = host.make_scale(*view, *version.scale);
    if (!scale.ok()) return std::move(scale.status());
    paths[resource->plural + "/scale"] = make_custom_subresource(std::move(*scale), book);
  }
  return {};
}

}  // namespace

std::string identity_of(const Object& crd) {
  // Not the generation: it moves when the definition is deleted, too.
  std::string said;
  if (const Value* spec = find(crd, "spec")) append_json(said, *spec);
  const std::size_t spec = std::hash<std::string>{}(said);
  std::string text(meta_text(crd, "uid"));
  text += "/" + std::to_string(said.size()) + "/" + std::to_string(spec) + "/";
  const Object& names = accepted_names_of(crd);
  for (std::string_view key : {"plural", "singular", "kind", "listKind"}) text.append(get_string(names, key)).append("/");
  for (std::string_view key : {"shortNames", "categories"}) {
    for (const std::string& name : texts(names, key)) text.append(name).append(",");
    text += "/";
  }
  return text;
}

Result<InstalledRef> install_resource(Host& host, const FindService& find_service, const Object& crd, ObjectRef entry,
                                      const Installed* before, Revision newest) {
  auto installed = std::make_shared<Installed>();
  installed->source = std::make_shared<SchemaSource>(std::move(entry));
  installed->writes = before != nullptr ? before->writes : std::make_shared<Writes>();
  auto resource = read_resource(crd, installed->source, installed->writes);
  if (!resource.ok()) return std::move(resource.status());
  installed->identity = identity_of(crd);
  installed->resource = std::move(*resource);
  installed->watches = std::make_shared<Watches>();
  auto store = host.make_storage(config_of(installed->resource));
  if (!store.ok()) return std::move(store.status());
  installed->store = std::move(*store);
  // A definition that was never changed has no objects from before.
  const bool changed = get_int_path(crd, "metadata.generation").value_or(1) > 1;
  const WriteBook book{installed->writes, installed->writes->renew(changed ? newest : 0)};
  const std::shared_ptr<WebhookClient> webhook =
      converts_by_webhook(crd) ? std::make_shared<WebhookClient>(host, find_service, webhook_config(crd)) : nullptr;
  for (const CustomVersion& version : installed->resource->versions) {
    if (!version.served) continue;
    Status added = add_version(host, *installed, version, book, webhook);
    if (!added.ok()) return added;
  }
  return InstalledRef(std::move(installed));
}

PublishedResource published(const Installed& installed) {
  PublishedResource out;
  out.group = installed.resource->group;
  out.resource = installed.resource->plural;
  out.identity = installed.identity;
  out.group_priority_minimum = kGroupPriority;
  out.version_priority = kVersionPriority;
  for (const auto& [version, paths] : installed.paths) {
    out.versions.push_back({version, paths, installed.resource->find(version)->schema.set});
  }
  return out;
}

}  // namespace backplane::apiextensions

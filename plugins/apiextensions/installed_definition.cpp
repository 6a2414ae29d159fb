#include "installed_definition.hpp"

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// The priorities that upstream registers for the groups of custom resources at the aggregator.
constexpr int kGroupPriority = 1000;
constexpr int kVersionPriority = 100;

Status add_version(InstalledDefinition& installed, const CustomVersion& version, const WriteTracker& tracker) {
  const std::string& plural = installed.resource->plural;
  auto& paths = installed.paths[version.kind.version];
  paths[plural] = make_custom_storage(installed.stores, version, tracker, installed.watches);
  if (version.has_status) paths[plural + "/status"] = make_custom_status(installed.stores, version, tracker);
  if (!version.scale) return {};
  // The host defines the type of a scale, so the host's storage must be made now.
  auto made = installed.stores->of(version);
  if (!made.ok()) return std::move(made.status());
  paths[plural + "/scale"] = make_custom_scale((*made)->scale, tracker);
  return {};
}

}  // namespace

std::string identity_of(const Object& crd) {
  // The generation is no part of the identity, because deletion increments it, too.
  std::string spec_text;
  if (const Value* spec = find(crd, "spec")) append_json(spec_text, *spec);
  const std::size_t spec = std::hash<std::string>{}(spec_text);
  std::string text(meta_text(crd, "uid"));
  text += "/" + std::to_string(spec_text.size()) + "/" + std::to_string(spec) + "/";
  const Object& names = accepted_names_of(crd);
  for (std::string_view key : {"plural", "singular", "kind", "listKind"}) text.append(get_string(names, key)).append("/");
  for (std::string_view key : {"shortNames", "categories"}) {
    for (const std::string& name : texts(names, key)) text.append(name).append(",");
    text += "/";
  }
  return text;
}

Result<InstalledDefinitionRef> install_resource(Host& host, const std::shared_ptr<ServiceResolver>& services, const Object& crd,
                                                ObjectRef entry, const InstalledDefinition* before, Revision newest) {
  auto installed = std::make_shared<InstalledDefinition>();
  installed->source = std::make_shared<SchemaSource>(std::move(entry));
  installed->writes = before != nullptr ? before->writes : std::make_shared<Writes>();
  auto resource = read_resource(crd, installed->source, installed->writes);
  if (!resource.ok()) return std::move(resource.status());
  installed->identity = identity_of(crd);
  installed->resource = std::move(*resource);
  installed->watches = std::make_shared<Watches>();
  // A definition that was never changed has no objects of an older schema.
  const bool changed = get_int_path(crd, "metadata.generation").value_or(1) > 1;
  const WriteTracker tracker{installed->writes, installed->writes->renew(changed ? newest : 0)};
  const std::shared_ptr<ConversionWebhook> webhook =
      converts_by_webhook(crd) ? std::make_shared<ConversionWebhook>(host, services, webhook_config(crd)) : nullptr;
  installed->stores = std::make_shared<Stores>(host, installed->resource, webhook);
  for (const CustomVersion& version : installed->resource->versions) {
    if (!version.served) continue;
    Status added = add_version(*installed, version, tracker);
    if (!added.ok()) return added;
  }
  return InstalledDefinitionRef(std::move(installed));
}

PublishedResource published(const InstalledDefinition& installed) {
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

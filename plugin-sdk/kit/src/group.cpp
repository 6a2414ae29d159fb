#include "backplane/kit/group.hpp"

#include <algorithm>
#include <stdexcept>

#include "backplane/kit/strategy.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/resource_config.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

bool is_view(const KindRow& row) noexcept { return !row.stored_kind.kind.empty(); }

// In the stored version, the strategy's selectable fields are the field labels and keep their names.
std::vector<Scheme::FieldLabel> labels_of(const KindRow& row, const Strategy* strategy) {
  if (is_view(row) || strategy == nullptr) return row.field_labels;
  std::vector<Scheme::FieldLabel> labels;
  for (const SelectableField& field : strategy->facts().selectable) labels.push_back({field.label, ""});
  return labels;
}

}  // namespace

GroupInstaller::GroupInstaller(Host& host, GroupDocument document, std::vector<std::shared_ptr<const SchemaSet>> schemas)
    : host_(host), document_(std::move(document)) {
  if (schemas.size() != document_.versions.size() || schemas.empty()) {
    throw std::invalid_argument("the group " + quoted(document_.group) + " needs one schema set for each of its versions");
  }
  for (std::size_t i = 0; i < schemas.size(); ++i) versions_.push_back({document_.versions[i], std::move(schemas[i])});
}

GroupInstaller::Version* GroupInstaller::find(std::string_view version) {
  if (version.empty()) return &versions_.front();
  const auto found = std::find_if(versions_.begin(), versions_.end(), [&](const Version& each) { return each.of.name == version; });
  return found == versions_.end() ? nullptr : &*found;
}

Status GroupInstaller::add_kinds() {
  for (const KindRow& row : document_.kinds) {
    if (row.same_form && is_view(row)) {
      const GroupVersionKind served{document_.group, row.version, row.kind};
      const auto identity = [](Object&) { return Status(); };
      if (Status status = host_.scheme().add_conversion(served, row.stored_kind, identity); !status.ok()) return status;
      if (Status status = host_.scheme().add_conversion(row.stored_kind, served, identity); !status.ok()) return status;
    }
    if (Status status = add(row); !status.ok()) return status;
  }
  return {};
}

Status GroupInstaller::add(const KindRow& row) {
  Version* version = find(row.version);
  if (version == nullptr) return Status(Reason::kInternalError, "kind " + row.kind + " is of the unknown version " + quoted(row.version));
  const GroupVersionKind kind{document_.group, version->of.name, row.kind};
  ResourceConfig config;
  config.kind = kind;
  config.stored_kind = row.stored_kind;
  config.converter = row.converter;
  config.resource = row.resource;
  config.short_names = row.short_names;
  config.categories = row.categories;
  config.schemas = version->schemas;
  config.schema = version->schemas->find(kind);
  config.strategy = row.strategy();
  config.hooks = row.hooks;
  config.time_to_live = row.time_to_live;
  config.storage_prefix = row.storage_prefix;
  config.deprecation_warning = row.deprecation_warning;
  if (config.schema == nullptr) {
    return Status(Reason::kInternalError, "the schema has no kind " + kind.group_version().to_string() + ", Kind=" + row.kind);
  }
  labels_[kind] = labels_of(row, config.strategy.get());
  strategies_[kind] = config.strategy;
  auto made = host_.make_storage(std::move(config));
  if (!made.ok()) return std::move(made).status();
  version->stores[row.resource] = *made;
  version->storages[row.resource] = *made;
  return add_subresources(row, kind, *version);
}

std::shared_ptr<const Strategy> GroupInstaller::stored_strategy(const KindRow& row, const GroupVersionKind& kind) const {
  const auto found = strategies_.find(is_view(row) ? row.stored_kind : kind);
  // The stored version belongs to another plugin's storage; the row contains the facts.
  return found != strategies_.end() ? found->second : std::make_shared<KindStrategy>(row.facts);
}

Status GroupInstaller::add_subresources(const KindRow& row, const GroupVersionKind& kind, Version& version) {
  const auto& store = version.stores[row.resource];
  if (auto strategy = row.status_strategy(stored_strategy(row, kind))) {
    auto status = host_.make_subresource(store, std::move(strategy));
    if (!status.ok()) return std::move(status).status();
    version.storages[row.resource + "/status"] = std::move(*status);
  }
  if (row.scale) {
    auto scale = host_.make_scale(store, *row.scale);
    if (!scale.ok()) return std::move(scale).status();
    version.storages[row.resource + "/scale"] = std::move(*scale);
  }
  return {};
}

std::shared_ptr<StandardStorage> GroupInstaller::store(const std::string& resource) const {
  const auto& stores = versions_.front().stores;
  const auto found = stores.find(resource);
  return found == stores.end() ? nullptr : found->second;
}

void GroupInstaller::put_words(const std::string& resource, const std::function<LabelledStorage::Words(const GroupVersionKind&)>& words) {
  for (Version& version : versions_) {
    const auto found = version.stores.find(resource);
    if (found == version.stores.end()) continue;
    version.storages[resource] = std::make_shared<LabelledStorage>(found->second, words(found->second->kind()));
  }
}

Status GroupInstaller::install(std::string_view registrant) {
  Scheme& scheme = host_.scheme();
  APIGroupInfo info;
  info.group = document_.group;
  info.group_priority_minimum = document_.priority;
  std::vector<std::string> order;
  for (const Version& version : versions_) {
    const std::string& name = version.of.name;
    if (Status status = scheme.add_known_types({info.group, name}, version.schemas, registrant); !status.ok()) return status;
    if (version.storages.empty()) continue;  // feature gates disable all resources of the version
    order.push_back(name);
    info.version_priorities[name] = version.of.priority;
    info.storages[name] = version.storages;
    info.schemas[name] = version.schemas;
  }
  if (order.empty()) return {};
  for (const auto& [kind, labels] : labels_) {
    if (Status status = scheme.add_field_labels(kind, labels); !status.ok()) return status;
  }
  if (Status status = scheme.set_version_priority(info.group, std::move(order)); !status.ok()) return status;
  return host_.install_api_group(std::move(info));
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> embedded_schemas(std::initializer_list<std::string_view> documents) {
  std::vector<std::shared_ptr<const SchemaSet>> out;
  for (const std::string_view& document : documents) {
    auto made = SchemaSet::embedded({&document, 1}, {core_schemas(), meta_schemas()});
    if (!made.ok()) return std::move(made).status();
    out.push_back(std::move(*made));
  }
  return out;
}

Status install_group(Host& host, std::string_view registrant, Result<GroupDocument> document,
                     Result<std::vector<std::shared_ptr<const SchemaSet>>> schemas) {
  if (!document.ok()) return std::move(document).status();
  if (!schemas.ok()) return std::move(schemas).status();
  GroupInstaller group(host, std::move(*document), std::move(*schemas));
  if (Status status = group.add_kinds(); !status.ok()) return status;
  return group.install(registrant);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

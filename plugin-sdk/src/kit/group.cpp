#include "backplane/kit/group.hpp"

#include "backplane/kit/strategy.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

std::shared_ptr<const Strategy> KindRow::strategy() const { return make != nullptr ? make(facts) : std::make_shared<KindStrategy>(facts); }

std::shared_ptr<const Strategy> KindRow::status_strategy(std::shared_ptr<const Strategy> parent) const {
  if (make_status != nullptr) return make_status(std::move(parent));
  return facts.status ? std::make_shared<StatusStrategy>(std::move(parent)) : nullptr;
}

Status GroupInstaller::add(const KindRow& row) {
  ResourceConfig config;
  config.kind = {gv_.group, gv_.version, row.kind};
  config.resource = row.resource;
  config.short_names = row.short_names;
  config.categories = row.categories;
  config.schemas = schemas_;
  config.schema = schemas_->find(config.kind);
  config.strategy = row.strategy();
  config.hooks = row.hooks;
  config.time_to_live = row.time_to_live;
  config.return_deleted_object = row.facts.returns_deleted;
  config.storage_prefix = row.storage_prefix;
  config.deprecation_warning = row.deprecation_warning;
  if (config.schema == nullptr) return Status(Reason::kInternalError, "the schema has no kind " + gv_.to_string() + ", Kind=" + row.kind);
  const std::shared_ptr<const Strategy> strategy = config.strategy;
  kinds_.emplace_back(config.kind, strategy);
  auto made = host_.make_storage(std::move(config));
  if (!made.ok()) return std::move(made).status();
  stores_[row.resource] = *made;
  storages_[row.resource] = *made;
  if (auto status_strategy = row.status_strategy(strategy)) {
    auto status = host_.make_subresource(*made, std::move(status_strategy));
    if (!status.ok()) return std::move(status).status();
    storages_[row.resource + "/status"] = std::move(*status);
  }
  if (row.scale) {
    auto scale = host_.make_scale(*made, *row.scale);
    if (!scale.ok()) return std::move(scale).status();
    storages_[row.resource + "/scale"] = std::move(*scale);
  }
  return {};
}

std::shared_ptr<StandardStorage> GroupInstaller::store(const std::string& resource) const {
  const auto found = stores_.find(resource);
  return found == stores_.end() ? nullptr : found->second;
}

Status GroupInstaller::install(std::string_view registrant, int group_priority, int version_priority) {
  Scheme& scheme = host_.scheme();
  if (Status status = scheme.add_known_types(gv_, schemas_, registrant); !status.ok()) return status;
  for (const auto& [kind, strategy] : kinds_) {
    auto defaulting = [keep = strategy](Object& object) { keep->apply_defaults(object); };
    if (Status status = scheme.add_defaulting(kind, std::move(defaulting)); !status.ok()) return status;
    std::vector<std::string> labels;
    for (const SelectableField& field : strategy->selectable_fields()) labels.push_back(field.label);
    if (Status status = scheme.add_field_labels(kind, std::move(labels)); !status.ok()) return status;
  }
  if (Status status = scheme.set_version_priority(gv_.group, {gv_.version}); !status.ok()) return status;
  APIGroupInfo info;
  info.group = gv_.group;
  info.prioritized_versions = {gv_.version};
  info.storages[gv_.version] = storages_;
  info.schemas[gv_.version] = schemas_;
  info.group_priority_minimum = group_priority;
  info.version_priority = version_priority;
  return host_.install_api_group(std::move(info));
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API

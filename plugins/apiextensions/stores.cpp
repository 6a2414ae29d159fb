#include "stores.hpp"

#include "backplane/rest/resource_config.hpp"
#include "converter.hpp"
#include "custom_strategy.hpp"

namespace backplane::apiextensions {
namespace {

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

// A served version is a view of the stored objects. The stored version is a view, too, because objects may be older than a change of its
// schema.
ResourceConfig view_of(const std::shared_ptr<const CustomResource>& resource, const CustomVersion& version,
                       std::shared_ptr<ConversionWebhook> webhook) {
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

Status changed(const CustomResource& resource) {
  Status status = service_unavailable("the definition of " + resource.plural + "." + resource.group + " has changed, please try again");
  StatusDetails details;
  details.retry_after_seconds = 1;
  return std::move(status).with_details(std::move(details));
}

}  // namespace

Result<std::shared_ptr<StandardStorage>> Stores::stored() const {
  auto all = made();
  if (!all.ok()) return std::move(all.status());
  return (*all)->stored;
}

Result<const Stores::Version*> Stores::of(const CustomVersion& version) const {
  auto all = made();
  if (!all.ok()) return std::move(all.status());
  return &(*all)->versions.at(&version);
}

void Stores::close(bool closed) {
  const std::lock_guard lock(mutex_);
  closed_ = closed;
}

Result<const Stores::Made*> Stores::made() const {
  if (const Made* ready = ready_.load(std::memory_order_acquire)) return ready;
  const std::lock_guard lock(mutex_);
  if (made_ == nullptr) {
    if (closed_) return changed(*resource_);
    auto fresh = make();
    if (!fresh.ok()) return std::move(fresh.status());
    made_ = std::move(*fresh);
    ready_.store(made_.get(), std::memory_order_release);
  }
  return made_.get();
}

Result<std::unique_ptr<const Stores::Made>> Stores::make() const {
  auto all = std::make_unique<Made>();
  auto store = host_.make_storage(config_of(resource_));
  if (!store.ok()) return std::move(store.status());
  all->stored = std::move(*store);
  for (const CustomVersion& version : resource_->versions) {
    if (!version.served) continue;
    auto served = make_version(version);
    if (!served.ok()) return std::move(served.status());
    all->versions.emplace(&version, std::move(*served));
  }
  return std::unique_ptr<const Made>(std::move(all));
}

Result<Stores::Version> Stores::make_version(const CustomVersion& version) const {
  Version out;
  auto view = host_.make_storage(view_of(resource_, version, webhook_));
  if (!view.ok()) return std::move(view.status());
  out.objects = std::move(*view);
  if (version.has_status) {
    auto status =
        host_.make_subresource(out.objects, make_custom_status_strategy(resource_), make_version_status_strategy(resource_, version));
    if (!status.ok()) return std::move(status.status());
    out.status = std::move(*status);
  }
  if (version.scale) {
    auto scale = host_.make_scale(out.objects, *version.scale);
    if (!scale.ok()) return std::move(scale.status());
    out.scale = std::move(*scale);
  }
  return out;
}

}  // namespace backplane::apiextensions

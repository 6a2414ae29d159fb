#include "registry/fields/stored_versions.hpp"

namespace backplane::registry {

void StoredVersions::add(const std::shared_ptr<const Conversion>& view) {
  const std::lock_guard lock(mutex_);
  views_[view->served().kind.group_version().to_string()] = view;
}

std::shared_ptr<const Conversion> StoredVersions::view_of(const std::string& api_version) const {
  const std::lock_guard lock(mutex_);
  const auto found = views_.find(api_version);
  return found != views_.end() ? found->second.lock() : nullptr;
}

std::optional<const Schema*> StoredVersions::type_of(const std::string& api_version) const {
  if (api_version == stored_) return schema_;
  const auto view = view_of(api_version);
  return view != nullptr ? std::optional<const Schema*>(view->served().schema) : std::nullopt;
}

Task<Result<Object>> StoredVersions::to_stored(Object object) const {
  const std::string from(get_string(object, "apiVersion"));
  if (from == stored_) co_return object;
  const auto view = view_of(from);
  if (view == nullptr) co_return internal_error("version " + from + " is served no longer");
  auto converting = view->to_stored(std::move(object));
  auto stored = co_await std::move(converting);
  co_return stored;
}

Task<Result<Object>> StoredVersions::convert(const Object& object, std::string api_version) const {
  Object copy(object, object.storage());
  auto storing = to_stored(std::move(copy));
  auto stored = co_await std::move(storing);
  if (!stored.ok() || api_version == stored_) co_return stored;
  const auto view = view_of(api_version);
  if (view == nullptr) co_return internal_error("version " + api_version + " is served no longer");
  co_return co_await view->to_written(*stored, object.storage());
}

Task<Result<Object>> StoredVersions::to_served(Object object, std::string api_version) const {
  auto storing = to_stored(std::move(object));
  auto stored = co_await std::move(storing);
  if (!stored.ok() || api_version == stored_) co_return stored;
  const auto view = view_of(api_version);
  if (view == nullptr) co_return internal_error("version " + api_version + " is served no longer");
  co_return co_await view->to_served(*stored, stored->storage());
}

std::optional<const Schema*> OneVersion::type_of(const std::string& api_version) const {
  return api_version == version_ ? std::optional<const Schema*>(schema_) : std::nullopt;
}

Task<Result<Object>> OneVersion::convert(const Object& object, std::string) const { co_return Object(object, object.storage()); }

}  // namespace backplane::registry

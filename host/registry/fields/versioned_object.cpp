#include "registry/fields/versioned_object.hpp"

namespace backplane::registry {

VersionedObject borrowed(const Object& object, std::string api_version) {
  return VersionedObject{std::shared_ptr<const Object>(std::shared_ptr<const Object>(), &object), std::move(api_version)};
}

VersionedObject owned(Object object, std::string api_version) {
  return VersionedObject{std::make_shared<const Object>(std::move(object)), std::move(api_version)};
}

Task<Result<VersionedObject>> converted(const FieldVersions& versions, VersionedObject from, std::string api_version) {
  if (from.api_version == api_version) co_return from;
  auto made = co_await versions.convert(*from.object, api_version);
  if (!made.ok()) co_return std::move(made.status());
  co_return owned(std::move(*made), std::move(api_version));
}

Status with_prefix(std::string_view words, const Status& error) {
  Status out = error;
  out.set_message(std::string(words) + error.message());
  return out;
}

}  // namespace backplane::registry

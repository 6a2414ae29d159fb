#include "registry/served_conversion.hpp"

#include "registry/object_store.hpp"

namespace backplane {
namespace {

std::string print(const GroupVersionKind& kind) { return kind.group_version().to_string() + ", Kind=" + kind.kind; }

GroupVersionKind kind_of(const Object& object) {
  const GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return {version.group, version.version, std::string(get_string(object, "kind"))};
}

Status not_served(const GroupVersionKind& from, const GroupVersionKind& to) {
  return Status(Reason::kNotFound, "no version is served that converts " + print(from) + " to " + print(to));
}

Result<Object> convert_by_scheme(const Scheme& scheme, const GroupVersionKind& from, const GroupVersionKind& to, Object object) {
  Status converted = scheme.convert(from, to, object);
  if (!converted.ok()) return converted;
  object["kind"] = to.kind;
  object["apiVersion"] = to.group_version().to_string();
  return object;
}

}  // namespace

Task<Result<Object>> convert_served(std::shared_ptr<RestStorage> storage, std::shared_ptr<const Scheme> scheme, GroupVersionKind to,
                                    Object object) {
  const GroupVersionKind from = kind_of(object);
  if (from == to) co_return object;
  if (storage == nullptr || from.kind != to.kind) co_return not_served(from, to);
  auto* const standard = role_of<StandardStorage>(storage.get());
  HostStore* const store = standard != nullptr ? standard->host_store() : nullptr;
  if (store != nullptr) {
    const registry::StoredVersions& versions = store->served().stored().served_versions();
    if (!versions.serves(from.group_version().to_string())) co_return not_served(from, to);
    auto converting = versions.to_served(std::move(object), to.group_version().to_string());
    auto converted = co_await std::move(converting);
    co_return converted;
  }
  if (scheme == nullptr || !scheme->converts(from, to)) co_return not_served(from, to);
  co_return convert_by_scheme(*scheme, from, to, std::move(object));
}

}  // namespace backplane

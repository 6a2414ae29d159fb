#include "common/served_as.hpp"

#include "backplane/rest/object_defaults.hpp"

namespace backplane::admission {

void ServedType::set_defaults(Value& object) const {
  if (const auto* defaults = role_of<ObjectDefaulter>(storage.get())) {
    defaults->set_defaults(object);
  } else if (schema != nullptr) {
    schema->apply_defaults(object);
  }
}

ServedType served_type(const Host& host, const GroupVersionResource& resource, const GroupVersionKind& kind) {
  auto storage = host.find_storage(resource);
  if (storage != nullptr && storage->kind() == kind) return {kind, storage->schema(), std::move(storage)};
  const Schema* schema = meta_schemas()->find(kind);
  return {kind, schema != nullptr ? schema : core_schemas()->find(kind), nullptr};
}

}  // namespace backplane::admission

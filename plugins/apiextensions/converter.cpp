#include "converter.hpp"

#include <algorithm>

namespace backplane::apiextensions {

Task<Result<std::vector<Object>>> CustomConverter::convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const {
  for (Object& object : objects) {
    // Only a conversion for readers completes objects. A conversion for the store (convert_written()) sets no defaults.
    if (resource_->find(to.version) == &version_) resource_->complete(object);
  }
  auto converting = convert_written(std::move(from), std::move(to), std::move(objects));
  co_return co_await std::move(converting);
}

Task<Result<std::vector<Object>>> CustomConverter::convert_written(GroupVersionKind from, GroupVersionKind to,
                                                                   std::vector<Object> objects) const {
  const CustomVersion* target = resource_->find(to.version);
  if (target == nullptr) co_return internal_error(resource_->plural + "." + resource_->group + " has no version " + to.version);
  if (webhook_ != nullptr && from.version != to.version) {
    auto converting = webhook_->convert(std::move(from), target->api_version, std::move(objects));
    co_return co_await std::move(converting);
  }
  for (Object& object : objects) object["apiVersion"] = target->api_version;
  co_return objects;
}

Result<std::string> CustomConverter::stored_field_label(const GroupVersionKind&, std::string_view label) const {
  if (label == "metadata.name" || (label == "metadata.namespace" && resource_->namespaced)) return std::string(label);
  // The underlying storage has the selectable fields of all versions, but a request may use only those of its version.
  const auto& fields = version_.fields;
  const bool known = std::any_of(fields.begin(), fields.end(), [&](const SelectableField& field) { return field.label == label; });
  if (!known) return bad_request("field label not supported: " + std::string(label));
  return std::string(label);
}

}  // namespace backplane::apiextensions

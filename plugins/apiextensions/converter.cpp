#include "converter.hpp"

#include <algorithm>

namespace backplane::apiextensions {
Task<Result<std::vector<Object>>> NoneConverter::convert(GroupVersionKind, GroupVersionKind to, std::vector<Object> objects) const {
  const CustomVersion* target = resource_->find(to.version);
  if (target == nullptr) co_return internal_error(resource_->plural + "." + resource_->group + " has no version " + to.version);
  for (Object& object : objects) {
    // Readers see defaults; what is stored is what was sent, pruned.
    if (target == &version_) resource_->complete(object);
    object["apiVersion"] = target->api_version;
  }
  co_return objects;
}

Result<std::string> NoneConverter::stored_field_label(const GroupVersionKind&, std::string_view label) const {
  if (label == "metadata.name" || (label == "metadata.namespace" && resource_->namespaced)) return std::string(label);
  // The store below knows the labels of all versions; each has its own.
  const auto& fields = version_.fields;
  const bool known = std::any_of(fields.begin(), fields.end(), [&](const SelectableField& field) { return field.label == label; });
  if (!known) return bad_request("field label not supported: " + std::string(label));
  return std::string(label);
}

}  // namespace backplane::apiextensions

#include "converter.hpp"

#include <algorithm>

namespace backplane::apiextensions {
namespace {

// What the schema knows, with its defaults.  An object that is beyond it stays as it is.
void fill_in(const Schema& schema, Object& object) {
  Value whole(std::move(object));
  if (schema.normalize(whole, nullptr).ok()) schema.apply_defaults(whole);
  if (whole.is_object()) object = std::move(whole.get_object());
}

}  // namespace

Task<Result<std::vector<Object>>> NoneConverter::convert(GroupVersionKind, GroupVersionKind to, std::vector<Object> objects) const {
  const CustomVersion* target = resource_->find(to.version);
  if (target == nullptr) co_return internal_error(resource_->plural + "." + resource_->group + " has no version " + to.version);
  for (Object& object : objects) {
    object["apiVersion"] = target->api_version;
    // Readers see defaults; what is stored is what was sent, pruned.
    if (target == &version_) fill_in(*target->schema.root, object);
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

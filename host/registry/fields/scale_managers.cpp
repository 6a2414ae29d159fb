#include "registry/fields/scale_managers.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kScaleVersion = "autoscaling/v1";

FieldPath scale_replicas() { return fields_path({"spec", "replicas"}); }

void keep(const ManagedFields& from, const std::string& identifier, OwnedFields owned, ManagedFields& to) {
  to.owners.insert_or_assign(identifier, std::move(owned));
  const auto time = from.times.find(identifier);
  if (time != from.times.end()) to.times.insert_or_assign(identifier, time->second);
}

}  // namespace

Result<Value> ScaleManagers::of_scale(const json::storage_ptr& storage) const {
  const auto parent = decode_managed(parent_);
  if (!parent.ok()) return parent.status();
  ManagedFields scale;
  for (const auto& [identifier, owned] : parent->owners) {
    if (!versions_.type_of(owned.api_version) || !owned.fields.has(replicas_)) continue;
    keep(*parent, identifier, {FieldSet{scale_replicas()}, std::string(kScaleVersion), owned.applied}, scale);
  }
  return encode_managed(scale, storage);
}

Result<Value> ScaleManagers::of_parent(const Value* scale, const json::storage_ptr& storage) const {
  const auto parent = decode_managed(parent_);
  if (!parent.ok()) return parent.status();
  auto changed = decode_managed(scale);
  if (!changed.ok()) return std::move(changed.status());
  ManagedFields now;
  for (const auto& [identifier, owned] : parent->owners) {
    if (!versions_.type_of(owned.api_version)) continue;
    OwnedFields left = owned;
    // A manager of the replicas that is no longer a manager of the Scale loses that field.
    const bool lost = owned.fields.has(replicas_) && changed->owners.erase(identifier) == 0;
    if (lost) left.fields = owned.fields.subtract(FieldSet{replicas_});
    if (!left.fields.empty()) keep(*parent, identifier, std::move(left), now);
  }
  for (const auto& [identifier, owned] : changed->owners) {
    if (!owned.fields.has(scale_replicas())) continue;
    keep(*parent, identifier, {FieldSet{replicas_}, api_version_, owned.applied}, now);
  }
  return encode_managed(now, storage);
}

}  // namespace backplane::registry

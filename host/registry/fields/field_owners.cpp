#include "registry/fields/field_owners.hpp"

#include "registry/fields/pruner.hpp"
#include "registry/fields/versioned_object.hpp"

namespace backplane::registry {
namespace {

Status internal(std::string message) { return Status(500, Reason::kInternalError, std::move(message)); }

// The effect of a write on one of the other owners.
struct Taken {
  FieldSet conflicts;  // the owner's fields that the write has changed
  FieldSet removed;    // the fields that the write has removed from the object
};

bool is_core(std::string_view api_version) { return api_version.find('/') == std::string_view::npos; }

// Adapts the field sets to the current types, and removes owners of versions that are no longer served.  If a kind is in the core group and
// in another group (events), also removes the owners of the other group: as upstream, each group has only its own types.
void reconcile(const FieldVersions& versions, std::string_view version, FieldOwners& owners) {
  for (auto at = owners.begin(); at != owners.end();) {
    const std::optional<const Schema*> type = versions.type_of(at->second.api_version);
    if (!type || is_core(at->second.api_version) != is_core(version)) {
      at = owners.erase(at);
      continue;
    }
    if (auto fields = reconciled_fields(*type, at->second.fields)) at->second.fields = std::move(*fields);
    ++at;
  }
}

}  // namespace

// The differences between `live` and `next` in each version for which they are requested.
class FieldUpdater::Versioned {
 public:
  Versioned(const FieldUpdater& updater, const Object& live, const Object& next, std::string version)
      : updater_(updater), live_(borrowed(live, version)), next_(borrowed(next, version)), version_(std::move(version)) {}

  // The differences in the version of the write. Called before at().
  Result<FieldChanges> own() {
    const Schema* type = updater_.versions_.type_of(version_).value_or(nullptr);
    auto changes = compare_fields(type, *live_.object, *next_.object);
    if (!changes.ok()) return internal("failed to compare objects: " + changes.status().message());
    same_ = changes->none();
    FieldChanges counted = changes->filtered(updater_.filter_of(version_));
    found_.emplace(version_, counted);
    return counted;
  }

  Task<Result<FieldChanges>> at(std::string version) {
    const auto known = found_.find(version);
    if (known != found_.end()) co_return known->second;
    // Objects that are equal in one version are equal in all.
    if (same_) co_return FieldChanges();
    auto before = co_await converted(updater_.versions_, live_, version);
    if (!before.ok()) co_return with_prefix("failed to convert old object: ", before.status());
    auto after = co_await converted(updater_.versions_, next_, version);
    if (!after.ok()) co_return with_prefix("failed to convert new object: ", after.status());
    auto changes = compare_fields(updater_.versions_.type_of(version).value_or(nullptr), *before->object, *after->object);
    if (!changes.ok()) co_return internal("failed to compare objects: " + changes.status().message());
    FieldChanges counted = changes->filtered(updater_.filter_of(version));
    found_.emplace(std::move(version), counted);
    co_return counted;
  }

 private:
  const FieldUpdater& updater_;
  VersionedObject live_, next_;
  std::string version_;
  std::map<std::string, FieldChanges> found_;
  bool same_ = false;
};

const FieldFilter& FieldUpdater::filter_of(const std::string& version) const {
  static const FieldFilter everything;
  if (filters_ == nullptr) return everything;
  const auto found = filters_->find(version);
  return found == filters_->end() ? everything : found->second;
}

Task<Result<FieldUpdater::MergedOwners>> FieldUpdater::merge_owners(const Object& live, const Object& next, std::string version,
                                                                    FieldOwners owners, std::string owner, bool force) const {
  MergedOwners out;
  Versioned versioned(*this, live, next, std::move(version));
  auto own = versioned.own();
  if (!own.ok()) co_return std::move(own.status());
  std::map<std::string, Taken> taken;
  for (const auto& [id, other] : owners) {
    if (id == owner) continue;
    Result<FieldChanges> changes;
    changes = co_await versioned.at(other.api_version);
    if (!changes.ok()) co_return std::move(changes.status());
    if (changes->none()) continue;
    Taken each;
    each.conflicts = other.fields.intersect(changes->modified.unite(changes->added));
    each.removed = std::move(changes->removed);
    if (!force && !each.conflicts.empty()) out.conflicts.push_back({id, each.conflicts});
    taken.emplace(id, std::move(each));
  }
  out.changes = std::move(*own);
  if (!out.conflicts.empty()) co_return out;
  for (const auto& [id, each] : taken) {
    FieldSet& fields = owners[id].fields;
    fields = fields.subtract(each.conflicts).subtract(each.removed);
  }
  std::erase_if(owners, [](const auto& each) { return each.second.fields.empty(); });
  out.owners = std::move(owners);
  co_return out;
}

Task<Result<FieldOwners>> FieldUpdater::update(const Object& live, const Object& next, std::string version, FieldOwners owners,
                                               std::string owner) const {
  reconcile(versions_, version, owners);
  auto settled = co_await merge_owners(live, next, version, std::move(owners), owner, true);
  if (!settled.ok()) co_return std::move(settled.status());
  FieldOwners out = std::move(settled->owners);
  const FieldChanges& changes = settled->changes;
  const auto known = out.find(owner);
  FieldSet fields = known == out.end() ? FieldSet() : known->second.fields;
  fields = filter_of(version).apply(fields.subtract(changes.removed).unite(changes.modified).unite(changes.added));
  if (fields.empty()) {
    out.erase(owner);
  } else {
    OwnedFields& mine = out[owner];
    mine.fields = std::move(fields);
    mine.api_version = std::move(version);
    mine.applied = false;
  }
  co_return out;
}

Task<Result<AppliedFields>> FieldUpdater::apply(const Object& live, const Object& config, std::string version, FieldOwners owners,
                                                std::string owner, bool force) const {
  reconcile(versions_, version, owners);
  const Schema* type = versions_.type_of(version).value_or(nullptr);
  auto merged = merge_fields(type, live, config, live.storage());
  if (!merged.ok()) co_return internal("failed to merge config: " + merged.status().message());
  auto named = fields_of(type, config);
  if (!named.ok()) co_return internal("failed to get field set: " + named.status().message());
  OwnedFields mine;
  mine.fields = filter_of(version).apply(*named);
  mine.api_version = version;
  mine.applied = true;
  OwnedFields last;
  std::swap(last, owners[owner]);
  // If the new configuration still has all fields of the last one, no field must be removed.
  const bool keeps = last.api_version == version && last.fields.subtract(mine.fields).empty();
  owners[owner] = std::move(mine);
  VersionedObject next = owned(std::move(*merged), version);
  if (!keeps && !last.fields.empty()) {
    const FieldPruner pruner(versions_);
    auto pruned = co_await pruner.prune(std::move(next), owners, last);
    if (!pruned.ok()) co_return with_prefix("failed to prune fields: ", pruned.status());
    next = std::move(*pruned);
  }
  auto settled = co_await merge_owners(live, *next.object, std::move(version), std::move(owners), std::move(owner), force);
  if (!settled.ok()) co_return std::move(settled.status());
  AppliedFields out;
  out.conflicts = std::move(settled->conflicts);
  if (!out.conflicts.empty()) co_return out;
  out.owners = std::move(settled->owners);
  if (!same_value(live, *next.object)) out.object.emplace(*next.object, live.storage());
  co_return out;
}

}  // namespace backplane::registry

#include "registry/fields/pruner.hpp"

namespace backplane::registry {
namespace {

json::storage_ptr scratch() { return json::make_shared_resource<json::monotonic_resource>(); }

Result<FieldSet> named_fields_of(const Schema* type, const Object& object) {
  auto fields = fields_of(type, object);
  if (!fields.ok()) return fields;
  return with_named_fields(type, *fields);
}

VersionedObject without(const Schema* type, const VersionedObject& from, const FieldSet& fields) {
  if (fields.empty()) return from;
  return owned(remove_fields(type, *from.object, fields, scratch()), from.api_version);
}

// Version → the fields that all owners of this version have.
std::map<std::string, FieldSet> managed_by_version(const FieldOwners& owners) {
  std::map<std::string, FieldSet> out;
  for (const auto& [id, owner] : owners) {
    FieldSet& fields = out[owner.api_version];
    fields = fields.unite(owner.fields);
  }
  return out;
}

}  // namespace

Task<Result<VersionedObject>> FieldPruner::prune(VersionedObject merged, const FieldOwners& owners, const OwnedFields& last) const {
  if (last.fields.empty() || !served(last.api_version)) co_return merged;
  const std::string version = merged.api_version;
  auto start = co_await converted(versions_, std::move(merged), last.api_version);
  if (!start.ok()) co_return with_prefix("failed to convert merged object to last applied version: ", start.status());
  const Schema* type = type_of(last.api_version);
  Pair objects;
  objects.merged = *start;
  objects.pruned = without(type, *start, with_named_fields(type, last.fields));
  std::map<std::string, FieldSet> managed = managed_by_version(owners);
  // The version of the last apply comes first, so that fields that a conversion to another version needs are restored before that
  // conversion.
  std::vector<std::string> order;
  if (managed.count(last.api_version) != 0) order.push_back(last.api_version);
  for (const auto& each : managed) {
    if (each.first != last.api_version) order.push_back(each.first);
  }
  for (const std::string& each : order) {
    if (!served(each)) continue;
    FieldSet fields = managed[each];
    Result<Pair> next;
    next = co_await add_back_owned(std::move(objects), each, std::move(fields));
    if (!next.ok()) co_return with_prefix("failed add back owned items: ", next.status());
    objects = std::move(*next);
  }
  auto pruned = co_await restore_dangling(std::move(*start), std::move(objects.pruned), last);
  if (!pruned.ok()) co_return with_prefix("failed add back dangling items: ", pruned.status());
  auto out = co_await converted(versions_, std::move(*pruned), version);
  co_return out;
}

Task<Result<FieldPruner::Pair>> FieldPruner::add_back_owned(Pair objects, std::string api_version, FieldSet managed) const {
  auto merged = co_await converted(versions_, std::move(objects.merged), api_version);
  if (!merged.ok()) co_return with_prefix("failed to convert merged object at version " + api_version + ": ", merged.status());
  auto pruned = co_await converted(versions_, std::move(objects.pruned), api_version);
  if (!pruned.ok()) co_return with_prefix("failed to convert pruned object at version " + api_version + ": ", pruned.status());
  const Schema* type = type_of(api_version);
  auto all = named_fields_of(type, *merged->object);
  if (!all.ok()) co_return with_prefix("failed to create field set from merged object at version " + api_version + ": ", all.status());
  auto left = named_fields_of(type, *pruned->object);
  if (!left.ok()) co_return with_prefix("failed to create field set from pruned object at version " + api_version + ": ", left.status());
  Pair out;
  out.pruned = without(type, *merged, all->subtract(left->unite(with_named_fields(type, managed))));
  out.merged = std::move(*merged);
  co_return out;
}

Task<Result<VersionedObject>> FieldPruner::restore_dangling(VersionedObject merged, VersionedObject pruned, const OwnedFields& last) const {
  auto at_last = co_await converted(versions_, std::move(pruned), last.api_version);
  if (!at_last.ok()) co_return with_prefix("failed to convert pruned object to last applied version: ", at_last.status());
  const Schema* type = type_of(last.api_version);
  auto left = named_fields_of(type, *at_last->object);
  if (!left.ok()) co_return with_prefix("failed to create field set from pruned object in last applied version: ", left.status());
  auto all = named_fields_of(type, *merged.object);
  if (!all.ok()) co_return with_prefix("failed to create field set from merged object in last applied version: ", all.status());
  co_return without(type, merged, all->subtract(*left).intersect(with_named_fields(type, last.fields)));
}

}  // namespace backplane::registry

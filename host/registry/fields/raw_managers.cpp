#include "registry/fields/raw_managers.hpp"

#include "backplane/types/json_reading.hpp"
#include "engine/object_fields.hpp"
#include "engine/raw_fields.hpp"
#include "registry/fields/cut_managers.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/sorted_members.hpp"

namespace backplane::registry {
namespace {

template <class AnyValue, class Each>
void for_each_fields(AnyValue& managed_fields, Each each) {
  if (!managed_fields.is_array()) return;
  for (auto& entry : managed_fields.get_array()) {
    auto* fields = entry.is_object() ? find(entry.get_object(), "fieldsV1") : nullptr;
    if (fields != nullptr) each(*fields);
  }
}

void fold(Value& fields) {
  if (fields.is_object()) fields = make_raw(to_json(fields.get_object()), fields.storage());
}

}  // namespace

Object decode_for_write(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage) {
  // In the few kinds whose schema has raw values, decode_kept() retains the original text of these values.
  if (holds_raw(schema)) return decode_kept(entry, schema, std::move(storage));
  const SharedBytes json = entry.json();
  const auto cut = ManagersCut::of(json.view());
  if (!cut) return decode(entry, std::move(storage));
  auto tree = read_json(cut->rest(), std::move(storage));
  if (!tree || !cut->restore(*tree)) throw UnreadableObject(entry.key().empty() ? entry.name() : entry.key());
  return std::move(tree->get_object());
}

// Raw texts of different lengths are different: equal field sets have texts of equal length.
bool same_fields(const Value& a, const Value& b) {
  const std::string_view one = text_of_raw(a), other = text_of_raw(b);
  if (one.empty() && other.empty()) return same_value(a, b);
  if (!one.empty() && !other.empty() && (one == other || one.size() != other.size())) return one == other;
  Value tree(a), other_tree(b);
  read_raw(tree);
  read_raw(other_tree);
  return same_value(tree, other_tree);
}

bool has_raw_managers(const Object& object) noexcept {
  const Value* managed = managed_fields_of(object);
  bool found = false;
  if (managed != nullptr) for_each_fields(*managed, [&](const Value& fields) { found = found || is_raw(fields); });
  return found;
}

void expand_managers(Object& object) {
  if (const Value* managed = managed_fields_of(object)) for_each_fields(const_cast<Value&>(*managed), read_raw);
}

void fold_managers(Value& managed_fields) { for_each_fields(managed_fields, fold); }

bool same_managers(const Value& a, const Value& b) {
  Value one(a), other(b);
  for_each_fields(one, read_raw);
  for_each_fields(other, read_raw);
  return same_value(one, other);
}

void sort_managers(Value& managed_fields) {
  for_each_fields(managed_fields, [](Value& fields) {
    if (is_raw(fields) && names_in_order(raw_text(fields))) return;
    read_raw(fields);
    sort_members(fields);
    fold(fields);
  });
  sort_members(managed_fields);
}

}  // namespace backplane::registry

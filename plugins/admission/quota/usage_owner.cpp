#include "quota/usage_owner.hpp"

#include <algorithm>
#include <tuple>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::string_view kManager = "kube-apiserver";

bool is_ours(const Object& entry) {
  return get_string(entry, "manager") == kManager && get_string(entry, "operation") == "Update" &&
         get_string(entry, "apiVersion") == "v1" && get_string(entry, "subresource") == "status";
}

Object* member_object(Object& parent, std::string_view key) {
  Value* found = parent.if_contains(key);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

// Removes the names from f:status.f:used, and members that become empty. Returns whether the entry still owns a field.
bool remove_fields(Object& entry, const ResourceNames& names) {
  Object* fields = member_object(entry, "fieldsV1");
  Object* status = fields != nullptr ? member_object(*fields, "f:status") : nullptr;
  Object* used = status != nullptr ? member_object(*status, "f:used") : nullptr;
  if (used == nullptr) return true;
  for (const std::string& name : names) used->erase("f:" + name);
  const bool only_itself = used->size() == 1 && used->contains(".");
  if (only_itself) used->clear();  // {} is the encoding of a field without fields below it
  if (!only_itself && used->empty()) status->erase("f:used");
  if (status->empty()) fields->erase("f:status");
  return !fields->empty();
}

Object& our_entry(Array& entries, std::string_view time) {
  for (Value& entry : entries) {
    if (!is_ours(entry.get_object())) continue;
    entry.get_object()["time"] = time;
    return entry.get_object();
  }
  Object entry(entries.storage());
  entry["manager"] = kManager;
  entry["operation"] = "Update";
  entry["apiVersion"] = "v1";
  entry["time"] = time;
  entry["fieldsType"] = "FieldsV1";
  entry["fieldsV1"] = Object(entries.storage());
  entry["subresource"] = "status";
  return entries.emplace_back(std::move(entry)).get_object();
}

// Fields are sorted by name.
void own(Object& entry, const ResourceNames& names) {
  Object& used = ensure_object(ensure_object(ensure_object(entry, "fieldsV1"), "f:status"), "f:used");
  std::map<std::string, Value> sorted;
  for (const auto& field : used) sorted.emplace(field.key(), field.value());
  for (const std::string& name : names) sorted.emplace("f:" + name, Object(used.storage()));
  used.clear();
  for (auto& [name, value] : sorted) used[name] = std::move(value);
}

// The order in which entries are shown (sortEncodedManagedFields).
bool precedes(const Value& a, const Value& b) {
  const auto rank = [](const Value& entry) {
    const Object& each = entry.get_object();
    return std::make_tuple(get_string(each, "operation"), get_string(each, "time"), get_string(each, "manager"));
  };
  return rank(a) < rank(b);
}

}  // namespace

void own_used(Object& quota, const ResourceNames& names, std::string_view time) {
  if (names.empty()) return;
  Array& entries = ensure_array(ensure_object(quota, "metadata"), "managedFields");
  const auto ours = [&](const Value& entry) { return entry.is_object() && is_ours(entry.get_object()); };
  if (!std::all_of(entries.begin(), entries.end(), [](const Value& entry) { return entry.is_object(); })) return;
  for (auto entry = entries.begin(); entry != entries.end();) {
    entry = ours(*entry) || remove_fields(entry->get_object(), names) ? entry + 1 : entries.erase(entry);
  }
  own(our_entry(entries, time), names);
  std::stable_sort(entries.begin(), entries.end(), precedes);
}

}  // namespace backplane::admission::quota

#include "registry/fields/entry_update.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "backplane/core/meta.hpp"
#include "engine/raw_fields.hpp"

namespace backplane::registry {
namespace {

constexpr std::size_t kMaxUpdateManagers = 10;

FieldPath metadata_path(std::string_view member) { return fields_path({"metadata", member}); }

bool has_fields(const Object& entry) {
  const Value* fields = find(entry, "fieldsV1");
  return fields != nullptr && (fields->is_object() || is_raw(*fields));
}

bool is_plain(const Value& entry, std::string_view api_version) {
  if (!entry.is_object()) return false;
  const Object& object = entry.get_object();
  const std::string_view operation = get_string(object, "operation");
  return (operation == "Apply" || operation == "Update") && get_string(object, "apiVersion") == api_version &&
         get_string(object, "fieldsType") == "FieldsV1" && has_fields(object);
}

bool is_own(const EntryUpdate& update, const Object& entry) {
  return get_string(entry, "operation") == "Update" && get_string(entry, "manager") == update.manager &&
         get_string(entry, "subresource") == update.subresource;
}

bool precedes(const Value& a, const Value& b) {
  const auto rank = [](const Object& entry) {
    return std::make_tuple(get_string(entry, "operation"), parse_rfc3339(get_string(entry, "time")).value_or(0),
                           get_string(entry, "manager"), get_string(entry, "apiVersion"), get_string(entry, "subresource"));
  };
  return rank(a.get_object()) < rank(b.get_object());
}

Value entry_with(const Object& entry, const FieldSet& fields, const json::storage_ptr& storage) {
  Object out(storage);
  out.reserve(entry.size());
  for (const auto& [key, value] : entry) {
    if (key == "fieldsV1")
      out.emplace(key, raw_fields(fields, storage));
    else
      out.emplace(key, value);
  }
  return out;
}

Value own_entry(const EntryUpdate& update, Value fields, const json::storage_ptr& storage) {
  Object out(storage);
  out.reserve(7);
  out.emplace("manager", update.manager);
  out.emplace("operation", "Update");
  out.emplace("apiVersion", update.api_version);
  out.emplace("time", update.now);
  out.emplace("fieldsType", "FieldsV1");
  out.emplace("fieldsV1", std::move(fields));
  if (!update.subresource.empty()) out.emplace("subresource", update.subresource);
  return out;
}

// True if only the time of the manager's entry changes: the entry already has all fields in `own` and none in `removed`.
bool needs_time_only(const Object& entry, const FieldSet& own, const FieldSet& removed) {
  const Value& fields_v1 = *find(entry, "fieldsV1");
  return find(entry, "time") != nullptr && !meets(fields_v1, removed) && covers(fields_v1, own);
}

// The managedFields of an object that had none; nullopt: the objects must be compared.
std::optional<Value> first_entry(const EntryUpdate& update, const Object& live, const Object& object) {
  if (update.excluded == nullptr || update.schema == nullptr || update.schema->structural()) return std::nullopt;
  std::string text;
  text.reserve(2048);  // enough for most objects
  if (!append_created_fields(text, update.schema, live, object, stripped_fields(), *update.excluded)) return std::nullopt;
  const json::storage_ptr& storage = object.storage();
  if (text == "{}") return Value(storage);
  Array out(storage);
  out.push_back(own_entry(update, make_raw(text, storage), storage));
  return Value(std::move(out));
}

FieldChanges without_stripped(FieldChanges changes) {
  const FieldSet& stripped = stripped_fields();
  return {changes.added.subtract(stripped), changes.modified.subtract(stripped), changes.removed.subtract(stripped)};
}

}  // namespace

const FieldSet& stripped_fields() {
  static const FieldSet fields{fields_path({"apiVersion"}), fields_path({"kind"}),          fields_path({"metadata"}),
                               metadata_path("name"),       metadata_path("namespace"),     metadata_path("creationTimestamp"),
                               metadata_path("selfLink"),   metadata_path("uid"),           metadata_path("clusterName"),
                               metadata_path("generation"), metadata_path("managedFields"), metadata_path("resourceVersion")};
  return fields;
}

bool same_encoding(const Value& a, const Value& b) {
  if (is_raw(a) && !is_raw(b)) return is_json_of(raw_text(a), b);
  if (is_raw(b) && !is_raw(a)) return is_json_of(raw_text(b), a);
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return a.get_string() == b.get_string();
  if (a.is_array()) {
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), same_encoding);
  }
  if (!a.is_object()) return a == b;
  return std::equal(a.get_object().begin(), a.get_object().end(), b.get_object().begin(), b.get_object().end(),
                    [](const auto& x, const auto& y) { return x.key() == y.key() && same_encoding(x.value(), y.value()); });
}

// True if two entries have the same manager. A write through /scale may cause this; the general algorithm then retains only the last entry.
bool repeats_a_manager(const Array& entries) {
  const auto same = [](const Object& a, const Object& b) {
    return get_string(a, "manager") == get_string(b, "manager") && get_string(a, "operation") == get_string(b, "operation") &&
           get_string(a, "subresource") == get_string(b, "subresource");
  };
  for (auto one = entries.begin(); one != entries.end(); ++one) {
    const auto again = [&](const Value& other) { return same(one->get_object(), other.get_object()); };
    if (std::any_of(std::next(one), entries.end(), again)) return true;
  }
  return false;
}

std::optional<Result<Value>> update_entries(const EntryUpdate& update, const Object& live, const Object& object, const Value& managed) {
  const Array& entries = managed.get_array();
  const auto plain = [&](const Value& entry) { return is_plain(entry, update.api_version); };
  if (!std::all_of(entries.begin(), entries.end(), plain) || repeats_a_manager(entries)) return std::nullopt;
  if (entries.empty()) {
    if (auto created = first_entry(update, live, object)) return Result<Value>(std::move(*created));
  }
  auto compared = compare_fields(update.schema, live, object);
  if (!compared.ok()) return Result<Value>(std::move(compared.status()));
  const FieldChanges changes = without_stripped(compared->filtered(*update.filter));
  const json::storage_ptr& storage = object.storage();
  if (changes.none()) {
    if (entries.empty()) return Result<Value>(Value(storage));
    return Result<Value>(Value(managed, storage));
  }
  // A CustomResourceDefinition may have changed the list types.
  if (update.schema == nullptr || update.schema->structural()) return std::nullopt;

  FieldSet own = changes.added.unite(changes.modified);
  const bool takes = !own.empty();
  const FieldSet touched = own.unite(changes.removed);
  Array out(storage);
  out.reserve(entries.size() + 1);
  const auto is_mine = [&](const Value& entry) { return is_own(update, entry.get_object()); };
  const bool one = takes && std::count_if(entries.begin(), entries.end(), is_mine) == 1;
  bool renewed = false;
  std::size_t updaters = 0;
  for (const Value& each : entries) {
    const Object& entry = each.get_object();
    const bool mine = takes && is_own(update, entry);
    if (mine && one && needs_time_only(entry, own, changes.removed)) {
      out.push_back(each);
      *find(out.back().get_object(), "time") = update.now;
      renewed = true;
      continue;
    }
    const Value& fields_v1 = *find(entry, "fieldsV1");
    const bool touches = mine || meets(fields_v1, touched);
    if (!touches) {
      updaters += get_string(entry, "operation") == "Update" ? 1 : 0;
      out.push_back(each);
      continue;
    }
    auto fields = FieldSet::decode(fields_v1);
    if (!fields.ok()) return std::nullopt;
    const FieldSet left = fields->subtract(touched);
    if (mine) {
      own = own.unite(left);
      continue;
    }
    if (left.empty()) continue;
    updaters += get_string(entry, "operation") == "Update" ? 1 : 0;
    out.push_back(left == *fields ? Value(each, storage) : entry_with(entry, left, storage));
  }
  if (takes && !renewed) out.push_back(own_entry(update, raw_fields(own, storage), storage));
  if (updaters + (takes ? 1 : 0) > kMaxUpdateManagers) return std::nullopt;
  std::sort(out.begin(), out.end(), precedes);
  if (out.empty()) return Result<Value>(Value(storage));
  return Result<Value>(Value(std::move(out)));
}

}  // namespace backplane::registry

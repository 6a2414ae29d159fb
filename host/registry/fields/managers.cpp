#include "registry/fields/managers.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "backplane/core/meta.hpp"
#include "base/printable.hpp"
#include "engine/object_fields.hpp"
#include "engine/raw_fields.hpp"
#include "registry/fields/entry_update.hpp"
#include "registry/fields/raw_managers.hpp"

namespace backplane::registry {
namespace {

constexpr std::size_t kMaxUpdateManagers = 10;
constexpr std::string_view kAncientChanges = "ancient-changes";
constexpr std::string_view kUnknown = "unknown";
constexpr std::size_t kMaxManagerBytes = 128;
constexpr std::string_view kMember = "managedFields";

void append_member(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  if (out.size() > 1) out.push_back(',');
  append_json_string(out, key);
  out.push_back(':');
  append_json_string(out, text);
}

Status unreadable(std::string why) { return Status(500, Reason::kNone, std::move(why)); }

// An entry of managedFields, with the members that determine its position in the list.
struct Shown {
  const std::string* identifier;
  const OwnedFields* owned;
  Manager manager;
  std::string_view time;
  std::int64_t seconds = 0;
};

bool precedes(const Shown& a, const Shown& b) {
  const auto rank = [](const Shown& each) {
    return std::make_tuple(!each.owned->applied, each.seconds, std::string_view(each.manager.name),
                           std::string_view(each.owned->api_version), std::string_view(each.manager.subresource));
  };
  return rank(a) < rank(b);
}

std::int64_t seconds_of(const ManagedFields& managed, const std::string& identifier) {
  const auto found = managed.times.find(identifier);
  return found == managed.times.end() ? 0 : parse_rfc3339(found->second).value_or(0);
}

Value entry_of(const Shown& shown, const json::storage_ptr& storage) {
  Object entry(storage);
  entry.reserve(7);
  if (!shown.manager.name.empty()) entry.emplace("manager", shown.manager.name);
  entry.emplace("operation", shown.owned->applied ? "Apply" : "Update");
  entry.emplace("apiVersion", shown.owned->api_version);
  if (!shown.time.empty()) entry.emplace("time", shown.time);
  entry.emplace("fieldsType", "FieldsV1");
  entry.emplace("fieldsV1", raw_fields(shown.owned->fields, storage));
  if (!shown.manager.subresource.empty()) entry.emplace("subresource", shown.manager.subresource);
  return entry;
}

Result<FieldSet> fields_in(const Object& entry) {
  const Value* fields = find(entry, "fieldsV1");
  if (fields == nullptr || fields->is_null()) return FieldSet();
  return FieldSet::decode(*fields);
}

Status read_entry(const Object& entry, std::size_t at, ManagedFields& out) {
  const std::string_view operation = get_string(entry, "operation"), version = get_string(entry, "apiVersion");
  if (operation != "Apply" && operation != "Update") return unreadable("operation must be `Apply` or `Update`");
  if (version.empty()) return unreadable("apiVersion must not be empty");
  const std::string_view type = get_string(entry, "fieldsType");
  const std::string where = " in managed fields entry " + std::to_string(at);
  if (type.empty()) return unreadable("missing fieldsType" + where);
  if (type != "FieldsV1") return unreadable("invalid fieldsType " + quoted(type) + where);
  auto fields = fields_in(entry);
  if (!fields.ok())
    return unreadable("error decoding versioned set from " + to_json(entry) + ": error decoding set: " + fields.status().message());
  Manager manager{std::string(get_string(entry, "manager")), operation == "Apply", std::string(version),
                  std::string(get_string(entry, "subresource"))};
  const std::string identifier = manager.identifier();
  OwnedFields owned;
  owned.fields = std::move(*fields);
  owned.api_version = std::string(version);
  owned.applied = manager.applies;
  out.owners.insert_or_assign(identifier, std::move(owned));
  const std::string_view time = get_string(entry, "time");
  if (!time.empty()) out.times.insert_or_assign(identifier, std::string(time));
  return {};
}

}  // namespace

std::string Manager::identifier() const {
  std::string out = "{";
  append_member(out, "manager", name);
  append_member(out, "operation", applies ? "Apply" : "Update");
  if (!applies) append_member(out, "apiVersion", api_version);
  append_member(out, "subresource", subresource);
  return out.append("}");
}

Manager Manager::of(std::string_view identifier) {
  json::error_code ignored;
  const Value tree = json::parse(identifier, ignored);
  if (!tree.is_object()) return {std::string(identifier), false, "", ""};
  const Object& entry = tree.get_object();
  return {std::string(get_string(entry, "manager")), get_string(entry, "operation") == "Apply",
          std::string(get_string(entry, "apiVersion")), std::string(get_string(entry, "subresource"))};
}

std::string Manager::text() const {
  std::string out = quoted(name);
  if (!subresource.empty()) out += " with subresource " + quoted(subresource);
  if (!applies) out += " using " + api_version;
  return out;
}

Result<ManagedFields> decode_managed(const Value* managed_fields) {
  ManagedFields out;
  if (managed_fields == nullptr || !managed_fields->is_array()) return out;
  const Array& entries = managed_fields->get_array();
  static const Object kEmpty;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Object& entry = entries[i].is_object() ? entries[i].get_object() : kEmpty;
    Status read = read_entry(entry, i, out);
    if (!read.ok()) return read;
  }
  return out;
}

Value encode_managed(const ManagedFields& managed, const json::storage_ptr& storage) {
  if (managed.owners.empty()) return Value(storage);
  std::vector<Shown> all;
  all.reserve(managed.owners.size());
  for (const auto& [identifier, owned] : managed.owners) {
    const auto time = managed.times.find(identifier);
    Shown& shown = all.emplace_back(Shown{&identifier, &owned, Manager::of(identifier), {}, 0});
    if (time == managed.times.end()) continue;
    shown.time = time->second;
    shown.seconds = parse_rfc3339(time->second).value_or(0);
  }
  std::sort(all.begin(), all.end(), precedes);
  Array entries(storage);
  entries.reserve(all.size());
  for (const Shown& shown : all) entries.push_back(entry_of(shown, storage));
  return entries;
}

bool resets_managed(const Value* managed_fields) noexcept {
  if (managed_fields == nullptr || !managed_fields->is_array()) return false;
  const Array& entries = managed_fields->get_array();
  if (entries.empty()) return true;
  return entries.size() == 1 && entries.front().is_object() && entries.front().get_object().empty();
}

bool same_but_times(const Value& a, const Value& b) noexcept {
  if (!a.is_array() || !b.is_array() || a.get_array().size() != b.get_array().size()) return false;
  const auto same = [](const Value& x, const Value& y) {
    if (!x.is_object() || !y.is_object()) return same_value(x, y);
    const auto others = [](const Object& entry) { return entry.size() - (entry.contains("time") ? 1 : 0); };
    if (others(x.get_object()) != others(y.get_object())) return false;
    return std::all_of(x.get_object().begin(), x.get_object().end(), [&](const auto& member) {
      if (member.key() == "time") return true;
      const Value* other = find(y.get_object(), member.key());
      return other != nullptr && same_fields(*other, member.value());
    });
  };
  return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), same);
}

const Value* managed_fields_of(const Object& object) noexcept {
  const Object* metadata = get_object(object, "metadata");
  return metadata != nullptr ? find(*metadata, kMember) : nullptr;
}

Value take_managed_fields(Object& object) {
  Value* metadata = find(object, "metadata");
  Value* found = metadata != nullptr && metadata->is_object() ? find(metadata->get_object(), kMember) : nullptr;
  if (found == nullptr) return Value(object.storage());
  Value taken(std::move(*found));
  erase_member(metadata->get_object(), kMember);
  return taken;
}

void put_managed_fields(Object& object, Value managed_fields, bool sorted_keys) {
  Value* found = find(object, "metadata");
  if (managed_fields.is_null()) {
    if (found != nullptr && found->is_object()) erase_member(found->get_object(), kMember);
    return;
  }
  if (sorted_keys) sort_managers(managed_fields);
  Object& metadata = ensure_object(object, "metadata");
  if (Value* there = find(metadata, kMember)) {
    *there = std::move(managed_fields);
    return;
  }
  metadata.emplace(kMember, std::move(managed_fields));
  if (!sorted_keys) return;
  // Moves each member that follows managedFields in the alphabetical order to the end.
  std::vector<std::string> followers;
  for (const auto& member : metadata) {
    if (std::string_view(member.key()) > kMember) followers.emplace_back(member.key());
  }
  for (const std::string& key : followers) {
    Value moved = std::move(metadata.at(key));
    erase_member(metadata, key);
    metadata.emplace(key, std::move(moved));
  }
}

namespace {

bool same_but(const Object& a, const Object& b, std::string_view left_out, bool (*same)(const Value& a, const Value& b)) {
  const auto others = [&](const Object& object) { return object.size() - (object.contains(left_out) ? 1 : 0); };
  if (others(a) != others(b)) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    if (member.key() == left_out) return true;
    const Value* other = find(b, member.key());
    return other != nullptr && same(member.value(), *other);
  });
}

bool same_values(const Value& a, const Value& b) { return same_value(a, b); }

}  // namespace

void keep_times(Object& object, const Object& old, bool sorted_keys) {
  const Value* now = managed_fields_of(object);
  const Value* before = managed_fields_of(old);
  if (now == nullptr || before == nullptr || same_encoding(*now, *before) || !same_but_times(*now, *before)) return;
  const Object* metadata = get_object(object, "metadata");
  const Object* old_metadata = get_object(old, "metadata");
  if (!same_but(*metadata, *old_metadata, kMember, same_values) || !same_but(object, old, "metadata", same_values)) return;
  put_managed_fields(object, Value(*before, object.storage()), sorted_keys);
}

std::string manager_name(std::string_view field_manager, std::string_view user_agent) {
  if (!field_manager.empty()) return std::string(field_manager);
  std::string out;
  std::string_view rest = user_agent.substr(0, user_agent.find('/'));
  while (!rest.empty()) {
    const auto [rune, length] = next_rune(rest);
    const std::string_view bytes = rune == 0xFFFD && length == 1 ? std::string_view("\xEF\xBF\xBD") : rest.substr(0, length);
    rest.remove_prefix(length);
    if (!is_printable(rune)) continue;
    if (out.size() + bytes.size() > kMaxManagerBytes) break;
    out.append(bytes);
  }
  return out.empty() ? std::string(kUnknown) : out;
}

void cap_update_managers(ManagedFields& managed) {
  std::vector<std::pair<std::int64_t, std::string>> updaters;
  for (const auto& [identifier, owned] : managed.owners) {
    if (!owned.applied) updaters.emplace_back(seconds_of(managed, identifier), identifier);
  }
  if (updaters.size() <= kMaxUpdateManagers) return;
  std::sort(updaters.begin(), updaters.end());
  std::map<std::string, std::string> first_of_version;
  std::size_t left = updaters.size();
  for (const auto& [seconds, identifier] : updaters) {
    if (left <= kMaxUpdateManagers) return;
    const OwnedFields owned = managed.owners.at(identifier);
    const auto [first, is_first] = first_of_version.try_emplace(owned.api_version, identifier);
    if (is_first) continue;
    const std::string bucket = Manager{std::string(kAncientChanges), false, owned.api_version, ""}.identifier();
    if (!managed.owners.contains(bucket)) {
      OwnedFields moved = managed.owners.at(first->second);
      managed.owners.erase(first->second);
      managed.owners.emplace(bucket, std::move(moved));
    }
    // If this entry is the bucket itself, the first entry of its version is merged into it.
    const std::string& goes = identifier == bucket ? first->second : identifier;
    OwnedFields& merged = managed.owners.at(bucket);
    if (identifier == bucket)
      merged.fields = managed.owners.at(goes).fields.unite(merged.fields);
    else
      merged.fields = owned.fields.unite(merged.fields);
    managed.owners.erase(goes);
    first->second = bucket;
    --left;
    // The entries are sorted by time, so this is the later of the two times.
    const auto time = managed.times.find(identifier);
    if (time != managed.times.end()) managed.times[bucket] = std::string(time->second);
  }
}

}  // namespace backplane::registry

#include "registry/conversion.hpp"

#include <limits>

#include <map>

#include "engine/codec.hpp"
#include "engine/raw_json.hpp"
#include "registry/metadata.hpp"

namespace backplane::registry {
namespace {

std::string head_of(const GroupVersionKind& kind, bool sorted) {
  const std::string version = "\"apiVersion\":\"" + kind.group_version().to_string() + "\",";
  return sorted ? "{" + version : "{\"kind\":\"" + kind.kind + "\"," + version;
}

void set_type(const GroupVersionKind& kind, Object& object) {
  object["kind"] = kind.kind;
  object["apiVersion"] = kind.group_version().to_string();
}

// Objects of one version, and the indices of their entries in the list to convert.
struct Batch {
  std::vector<std::size_t> places;
  std::vector<Object> objects;
};

// A value of refresh_until(): every object is converted for readers, even if it is in the served version.
constexpr Revision kAlways = std::numeric_limits<Revision>::max();

}  // namespace

Conversion::Conversion(VersionForm served, VersionForm stored, std::shared_ptr<const ObjectConverter> converter)
    : served_(std::move(served)),
      stored_(std::move(stored)),
      converter_(std::move(converter)),
      sorted_(served_.schema != nullptr && served_.schema->structural()),
      api_version_(served_.kind.group_version().to_string()),
      head_(head_of(served_.kind, sorted_)) {}

bool Conversion::shows(const ObjectEntry& entry) const noexcept {
  const Revision until = converter_->refresh_until();
  // The result of a dry run has revision 0. It was written in the current schema, so it need not be converted again.
  if (until == kAlways || (entry.revision != 0 && entry.revision <= until)) return false;
  return entry.json().view().starts_with(head_);
}

bool Conversion::shows(const Object& stored) const noexcept {
  if (served_.kind != stored_.kind || get_string(stored, "apiVersion") != api_version_) return false;
  const Revision refresh_until = converter_->refresh_until();
  if (refresh_until == 0) return true;
  const auto revision = parse_resource_version(meta_text(stored, "resourceVersion"));
  return revision.ok() && *revision > static_cast<std::uint64_t>(refresh_until);
}

GroupVersionKind Conversion::version_of(const Object& object) const {
  const GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return {version.group, version.version, stored_.kind.kind};
}

Task<Result<std::vector<Object>>> Conversion::convert(GroupVersionKind from, const VersionForm& to, std::vector<Object> objects,
                                                      bool lenient) const {
  const std::size_t wanted = objects.size();
  auto converted = co_await converter_->convert(std::move(from), to.kind, std::move(objects));
  co_return shaped(std::move(converted), to, wanted, lenient);
}

Result<std::vector<Object>> Conversion::shaped(Result<std::vector<Object>> converted, const VersionForm& to, std::size_t wanted,
                                               bool lenient) const {
  if (!converted.ok()) return converted;
  if (converted->size() != wanted) {
    return internal_error("conversion to " + to.kind.group_version().to_string() + ": expected " + std::to_string(wanted) +
                          " converted objects, got " + std::to_string(converted->size()));
  }
  for (Object& object : *converted) {
    set_type(to.kind, object);
    Status formed = canonical_form(to.schema, object);
    if (!formed.ok() && !lenient) return formed;
  }
  return converted;
}

ObjectRef Conversion::entry_of(const ObjectEntry& entry, const Object& object) const {
  auto changed = std::make_shared<ObjectEntry>(entry);
  std::string text;
  if (entry.event()) text = json_frame_head(*entry.event());
  const std::size_t begin = text.size();
  if (append_kept_json(text, object)) {
    set_kept_json(*changed, SharedBytes(text.substr(begin)));
    text.resize(begin);
    append_json(text, object);
  }
  const std::size_t size = text.size() - begin;
  const bool led = !sorted_ && std::string_view(text).substr(begin).starts_with(head_);
  const auto item_offset = led ? static_cast<std::uint32_t>(head_.size()) : 0;
  if (entry.event()) {
    // The JSON is a part of a watch frame, which all watches of this version share.
    text.append(json_frame_tail());
    changed->set_json_in_frame(SharedBytes(std::move(text)), begin, size, item_offset, *entry.event());
  } else {
    changed->set_json(SharedBytes(std::move(text)), item_offset);
  }
  return changed;
}

Task<Result<std::vector<ObjectRef>>> Conversion::shown(std::vector<ObjectRef> entries) const { return show(std::move(entries), true); }

Task<Result<std::vector<ObjectRef>>> Conversion::show(std::vector<ObjectRef> entries, bool lenient) const {
  const std::shared_ptr<const void> self = shared_from_this();
  // Objects may have been stored in several versions; each version is one batch.
  std::map<GroupVersionKind, Batch> batches;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == nullptr || shows(*entries[i])) continue;
    if (std::optional<ObjectRef> known = entries[i]->version(self)) {
      if (*known != nullptr) entries[i] = std::move(*known);
      continue;
    }
    Object tree = decode_kept(*entries[i], stored_.schema, json::make_shared_resource<json::monotonic_resource>());
    Batch& batch = batches[version_of(tree)];
    batch.places.push_back(i);
    batch.objects.push_back(std::move(tree));
  }
  for (auto& [from, batch] : batches) {
    auto converted = co_await convert(from, served_, std::move(batch.objects), lenient);
    if (!converted.ok()) co_return std::move(converted.status());
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      ObjectRef& entry = entries[batch.places[i]];
      ObjectRef made = entry_of(*entry, (*converted)[i]);
      if (made->json().view() == entry->json().view()) made = nullptr;  // equal to the stored JSON: no second copy
      if (ObjectRef shared = entry->publish_version(self, std::move(made))) entry = std::move(shared);
    }
  }
  co_return entries;
}

Task<Result<ObjectRef>> Conversion::shown(ObjectRef entry) const {
  if (entry == nullptr || shows(*entry)) co_return entry;
  std::vector<ObjectRef> one;
  one.push_back(std::move(entry));
  auto converted = co_await show(std::move(one), false);
  if (!converted.ok()) co_return std::move(converted.status());
  co_return std::move(converted->front());
}

ObjectRef Conversion::bookmark(const ObjectEntry& entry) const {
  Object object = decode(entry, json::make_shared_resource<json::monotonic_resource>());
  set_type(served_.kind, object);
  return entry_of(entry, object);
}

Task<Result<Object>> Conversion::to_served(const Object& stored, json::storage_ptr storage) const {
  if (shows(stored)) co_return Object(stored, std::move(storage));
  GroupVersionKind from = version_of(stored);
  std::vector<Object> one;
  one.emplace_back(stored, std::move(storage));
  auto converted = co_await convert(std::move(from), served_, std::move(one), false);
  if (!converted.ok()) co_return std::move(converted.status());
  co_return std::move(converted->front());
}

Task<Result<Object>> Conversion::to_written(const Object& stored, json::storage_ptr storage) const {
  if (!converter_->writes_differ() || shows(stored)) {
    auto served = co_await to_served(stored, std::move(storage));
    co_return served;
  }
  GroupVersionKind from = version_of(stored);
  std::vector<Object> one;
  one.emplace_back(stored, std::move(storage));
  auto made = co_await converter_->convert_written(std::move(from), served_.kind, std::move(one));
  auto converted = shaped(std::move(made), served_, 1, false);
  if (!converted.ok()) co_return std::move(converted.status());
  co_return std::move(converted->front());
}

Task<Result<Object>> Conversion::to_stored(Object served) const {
  if (served_.kind == stored_.kind) co_return served;
  std::vector<Object> one;
  one.push_back(std::move(served));
  auto converted = co_await convert(served_.kind, stored_, std::move(one), false);
  if (!converted.ok()) co_return std::move(converted.status());
  co_return std::move(converted->front());
}

Result<std::string> Conversion::stored_field_label(std::string_view label) const {
  return converter_->stored_field_label(served_.kind, label);
}

}  // namespace backplane::registry

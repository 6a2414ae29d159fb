#include "converter.hpp"

namespace backplane::apiextensions {
namespace {

// The object through a schema; `defaults`: what is missing is filled in.
Status reshape(const Schema& schema, const std::string& api_version, bool defaults, Object& object) {
  object["apiVersion"] = api_version;
  Value whole(std::move(object));
  Status shaped = schema.normalize(whole, nullptr);
  if (shaped.ok() && defaults) {
    schema.apply_defaults(whole);
    shaped = schema.normalize(whole, nullptr);
  }
  if (whole.is_object()) object = std::move(whole.get_object());
  return shaped.ok() ? Status() : internal_error(shaped.message());
}

}  // namespace

Converter::Converter(std::shared_ptr<const CustomResource> resource, const CustomVersion& version, Revision refresh_until)
    : resource_(std::move(resource)),
      version_(version),
      refresh_until_(refresh_until),
      head_("{\"apiVersion\":\"" + version.api_version + "\",") {}

bool Converter::is_shown(const ObjectEntry& entry) const noexcept {
  if (entry.revision != 0 && entry.revision <= refresh_until_) return false;
  return entry.json().view().substr(0, head_.size()) == head_;
}

Result<ObjectRef> Converter::shown(ObjectRef entry) const {
  if (entry == nullptr || is_shown(*entry)) return entry;
  return converted(*entry);
}

Result<ObjectRef> Converter::converted(const ObjectEntry& entry) const {
  Object object = decode(entry, json::make_shared_resource<json::monotonic_resource>());
  Status done = to_version(object);
  if (!done.ok()) return done;
  return with_json(entry, to_json(object));
}

ObjectRef Converter::bookmark(const ObjectEntry& entry) const {
  Object object = decode(entry, json::make_shared_resource<json::monotonic_resource>());
  if (get_string(object, "apiVersion") == version_.api_version) return nullptr;
  object["apiVersion"] = version_.api_version;
  return with_json(entry, to_json(object));
}

Status Converter::to_version(Object& object) const { return reshape(*version_.schema.root, version_.api_version, true, object); }

Status Converter::to_stored(Object& object) const {
  if (version_.stored) return {};
  const CustomVersion& stored = resource_->stored();
  return reshape(*stored.schema.root, stored.api_version, false, object);
}

}  // namespace backplane::apiextensions

#include "policies/patched_kind.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::admission::policies {
namespace {

PatchError refuse(Status status) { return {{}, std::move(status)}; }

GroupVersionKind stated_kind_of(const Object& object) {
  GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return {std::move(version.group), std::move(version.version), std::string(get_string(object, "kind"))};
}

// Custom resources are decoded without a type.
PatchError check_custom_kind(const Object& object, const GroupVersionKind& stated, const GroupVersionKind& expected) {
  const char* missing = stated.kind.empty() ? "Kind" : stated.version.empty() ? "apiVersion" : nullptr;
  if (missing != nullptr) return refuse(internal_error("Object '" + std::string(missing) + "' is missing in '" + to_json(object) + "'"));
  FieldErrors errors;
  if (stated.kind != expected.kind) errors.invalid("kind", stated.kind, "must be " + expected.kind);
  return refuse(errors.to_status(stated.group, stated.kind, meta_name(object)));
}

// A built-in kind is decoded as the kind that the object states. The result is not converted to the expected kind.
PatchError decode_as(Value& whole, const GroupVersionKind& stated, const GroupVersionKind& expected) {
  const Schema* schema = core_schemas()->find(stated);
  if (schema == nullptr) {
    return refuse(internal_error("no kind " + quoted(stated.kind) + " is registered for version " +
                                 quoted(stated.group_version().to_string()) + " in scheme \"pkg/runtime/scheme.go:111\""));
  }
  PatchError decoded = complete_patched(whole, {stated, schema, nullptr}, Decoding::kStrict);
  if (!decoded.ok()) return decoded;
  const std::string group = expected.group.empty() ? "core" : expected.group.substr(0, expected.group.find('.'));
  return refuse(internal_error("failed to convert object: converting (" + stated.version + "." + stated.kind + ") to (" + group + "." +
                               expected.kind + "): unknown conversion"));
}

}  // namespace

PatchError check_patched_kind(Value& whole, const ObjectForm& form) {
  Object& object = whole.get_object();
  GroupVersionKind stated = stated_kind_of(object);
  if (stated == form.kind || form.schema == nullptr) return {};
  if (is_structural(form)) return check_custom_kind(object, stated, form.kind);
  if (stated.kind.empty()) object["kind"] = stated.kind = form.kind.kind;
  if (stated.version.empty()) {
    object["apiVersion"] = form.kind.group_version().to_string();
    stated = {form.kind.group, form.kind.version, stated.kind};
  }
  return stated == form.kind ? PatchError() : decode_as(whole, stated, form.kind);
}

}  // namespace backplane::admission::policies

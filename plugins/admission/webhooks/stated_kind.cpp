#include "webhooks/stated_kind.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/json_kind.hpp"

namespace backplane::admission::webhooks {

Status undecodable(std::string message) { return Status(500, Reason::kNone, std::move(message)); }

Result<GroupVersionKind> stated_kind(const Value& value) {
  if (value.is_null()) return GroupVersionKind();
  if (!value.is_object()) {
    return undecodable(std::string(kKindParseError) + "json: cannot unmarshal " + std::string(json_kind(value)) +
                       " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                       "Kind string \"json:\\\"kind,omitempty\\\"\" }");
  }
  for (const std::string_view key : {"apiVersion", "kind"}) {
    const Value* given = find(value.get_object(), key);
    if (given == nullptr || given->is_string() || given->is_null()) continue;
    return undecodable(std::string(kKindParseError) + "json: cannot unmarshal " + std::string(json_kind(*given)) +
                       " into Go struct field ." + std::string(key) + " of type string");
  }
  const std::string_view api_version = get_string(value.get_object(), "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    return undecodable("unexpected GroupVersion string: " + std::string(api_version));
  }
  const GroupVersion version = GroupVersion::parse(api_version);
  return GroupVersionKind{version.group, version.version, std::string(get_string(value.get_object(), "kind"))};
}

GroupVersionKind completed_kind(GroupVersionKind kind, const GroupVersionKind& expected) {
  if (kind.kind.empty()) kind.kind = expected.kind;
  if (kind.version.empty() && (kind.group.empty() || kind.group == expected.group)) {
    kind.group = expected.group;
    kind.version = expected.version;
  }
  return kind;
}

}  // namespace backplane::admission::webhooks

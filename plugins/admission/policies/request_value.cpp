#include "policies/request_value.hpp"

#include "policies/match_resources.hpp"

namespace backplane::admission::policies {
namespace {

Value kind_value(const GroupVersionKind& kind) { return Object{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}; }

Value resource_value(const GroupVersionResource& resource) {
  return Object{{"group", resource.group}, {"version", resource.version}, {"resource", resource.resource}};
}

Array text_values(const std::vector<std::string>& texts) {
  Array out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

void set_unless_empty(Object& object, std::string_view key, std::string_view text) {
  if (!text.empty()) object.emplace(key, text);
}

Value user_value(const UserInfo& user) {
  Object out;
  set_unless_empty(out, "username", user.name);
  set_unless_empty(out, "uid", user.uid);
  if (!user.groups.empty()) out.emplace("groups", text_values(user.groups));
  if (user.extra.empty()) return out;
  Object extra;
  for (const auto& [key, values] : user.extra) extra.emplace(key, text_values(values));
  out.emplace("extra", std::move(extra));
  return out;
}

}  // namespace

Value admission_request_value(const AdmissionAttributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind) {
  Object out;
  out.reserve(16);
  out.emplace("uid", "");
  out.emplace("kind", kind_value(kind));
  out.emplace("resource", resource_value(resource));
  set_unless_empty(out, "subResource", attributes.subresource);
  out.emplace("requestKind", kind_value(attributes.kind));
  out.emplace("requestResource", resource_value(attributes.resource));
  set_unless_empty(out, "requestSubResource", attributes.subresource);
  set_unless_empty(out, "name", attributes.name);
  set_unless_empty(out, "namespace", namespace_of(attributes));
  out.emplace("operation", admission_operation_name(attributes.operation));
  out.emplace("userInfo", user_value(*attributes.user));
  out.emplace("dryRun", attributes.dry_run);
  out.emplace("options", admission_options(attributes, {}));
  return out;
}

}  // namespace backplane::admission::policies

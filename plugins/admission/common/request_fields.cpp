#include "common/request_fields.hpp"

#include <map>

namespace backplane::admission {
namespace {

void set_kind(Object& out, std::string_view key, const GroupVersionKind& kind) {
  out[key] = Object({{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}, out.storage());
}

void set_resource(Object& out, std::string_view key, const GroupVersionResource& resource) {
  out[key] = Object({{"group", resource.group}, {"version", resource.version}, {"resource", resource.resource}}, out.storage());
}

void set_unless_empty(Object& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out[key] = text;
}

Array text_array(const std::vector<std::string>& texts, const json::storage_ptr& storage) {
  Array out(storage);
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

void set_user(Object& out, const UserInfo& user) {
  Object& members = out["userInfo"].emplace_object();
  set_unless_empty(members, "username", user.name);
  set_unless_empty(members, "uid", user.uid);
  if (!user.groups.empty()) members["groups"] = text_array(user.groups, out.storage());
  if (user.extra.empty()) return;
  // Go prints maps sorted by key.
  const std::map<std::string_view, std::vector<std::string>> sorted(user.extra.begin(), user.extra.end());
  Object& extra = members["extra"].emplace_object();
  for (const auto& [key, values] : sorted) extra[key] = text_array(values, out.storage());
}

}  // namespace

Object request_fields(const AdmissionAttributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind,
                      const json::storage_ptr& storage) {
  Object out(16, storage);
  out["uid"] = "";
  set_kind(out, "kind", kind);
  set_resource(out, "resource", resource);
  set_unless_empty(out, "subResource", attributes.subresource);
  set_kind(out, "requestKind", attributes.kind);
  set_resource(out, "requestResource", attributes.resource);
  set_unless_empty(out, "requestSubResource", attributes.subresource);
  set_unless_empty(out, "name", attributes.name);
  set_unless_empty(out, "namespace", attributes.ns);
  out["operation"] = admission_operation_name(attributes.operation);
  set_user(out, *attributes.user);
  out["dryRun"] = attributes.dry_run;
  out["options"] = admission_options(attributes, storage);
  return out;
}

}  // namespace backplane::admission

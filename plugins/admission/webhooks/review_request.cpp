#include "webhooks/review_request.hpp"

namespace backplane::admission::webhooks {
namespace {

void set_review_kind(Object& out, std::string_view key, const GroupVersionKind& kind) {
  Object& members = out[key].emplace_object();
  members["group"] = kind.group;
  members["version"] = kind.version;
  members["kind"] = kind.kind;
}

void set_review_resource(Object& out, std::string_view key, const GroupVersionResource& resource) {
  Object& members = out[key].emplace_object();
  members["group"] = resource.group;
  members["version"] = resource.version;
  members["resource"] = resource.resource;
}

void set_unless_empty(Object& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out[key] = text;
}

Array text_array(const std::vector<std::string>& texts, const json::storage_ptr& storage) {
  Array out(storage);
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

void set_review_user(Object& out, const UserInfo& user) {
  Object& members = out["userInfo"].emplace_object();
  set_unless_empty(members, "username", user.name);
  set_unless_empty(members, "uid", user.uid);
  if (!user.groups.empty()) members["groups"] = text_array(user.groups, out.storage());
  if (user.extra.empty()) return;
  // Go prints maps sorted by key.
  std::map<std::string_view, const std::vector<std::string>*> sorted;
  for (const auto& [key, values] : user.extra) sorted.emplace(key, &values);
  Object& extra = members["extra"].emplace_object();
  for (const auto& [key, values] : sorted) extra[key] = text_array(*values, out.storage());
}

void append_object_or_null(std::string& out, const Object* object) {
  if (object != nullptr) {
    append_json(out, *object);
  } else {
    out += "null";
  }
}

}  // namespace

Object review_request(const AdmissionAttributes& attributes, const ReviewTarget& target, const json::storage_ptr& storage) {
  Object out(storage);
  set_review_kind(out, "kind", target.kind);
  set_review_resource(out, "resource", target.resource);
  set_unless_empty(out, "subResource", attributes.subresource);
  set_review_kind(out, "requestKind", attributes.kind);
  set_review_resource(out, "requestResource", attributes.resource);
  set_unless_empty(out, "requestSubResource", attributes.subresource);
  set_unless_empty(out, "name", attributes.name);
  set_unless_empty(out, "namespace", attributes.ns);
  out["operation"] = admission_operation_name(attributes.operation);
  set_review_user(out, *attributes.user);
  out["dryRun"] = attributes.dry_run;
  out["options"] = admission_options(attributes, storage);
  return out;
}

std::string EncodedReview::body(std::string_view uid) const {
  std::string out;
  out.reserve(head.size() + uid.size() + 2 + tail.size());
  out.append(head);
  append_json_string(out, uid);
  out.append(tail);
  return out;
}

EncodedReview encode_review(std::string_view version, const AdmissionAttributes& attributes, const ReviewTarget& target,
                            const Object* object, const Object* old_object) {
  EncodedReview out;
  out.head = "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/" + std::string(version) + "\",\"request\":{\"uid\":";
  const Object request = review_request(attributes, target, json::make_shared_resource<json::monotonic_resource>());
  for (const auto& member : request) {
    if (member.key() == "dryRun") {
      out.tail += ",\"object\":";
      append_object_or_null(out.tail, object);
      out.tail += ",\"oldObject\":";
      append_object_or_null(out.tail, old_object);
    }
    out.tail += ',';
    append_json_string(out.tail, member.key());
    out.tail += ':';
    append_json(out.tail, member.value());
  }
  out.tail += "}}\n";
  return out;
}

}  // namespace backplane::admission::webhooks

#include "app/extension/admission_review.hpp"

#include <algorithm>

#include "app/extension/json_difference.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

constexpr std::string_view kReviewVersion = "admission.k8s.io/v1", kKind = "AdmissionReview";

struct Write {
  RequestContext context;
  AdmissionAttributes attributes;
  Object object, old_object;
};

std::vector<std::string> texts(const Object& object, std::string_view key) {
  std::vector<std::string> out;
  const Array* list = get_array(object, key);
  for (const Value& each : list != nullptr ? *list : Array()) {
    if (each.is_string()) out.emplace_back(each.get_string());
  }
  return out;
}

UserInfo user_of(const Object& request) {
  const Object& from = object_or_empty(request, "userInfo");
  UserInfo user{std::string(get_string(from, "username")), std::string(get_string(from, "uid")), texts(from, "groups"), {}};
  const Object& extra = object_or_empty(from, "extra");
  for (const auto& member : extra) user.extra.emplace_back(std::string(member.key()), texts(extra, member.key()));
  return user;
}

GroupVersionKind kind_of(const Object& request, std::string_view key) {
  const Object& from = object_or_empty(request, key);
  return {std::string(get_string(from, "group")), std::string(get_string(from, "version")), std::string(get_string(from, "kind"))};
}
GroupVersionResource resource_of(const Object& request, std::string_view key) {
  const Object& from = object_or_empty(request, key);
  return {std::string(get_string(from, "group")), std::string(get_string(from, "version")), std::string(get_string(from, "resource"))};
}

std::optional<AdmissionOperation> operation_of(std::string_view name) {
  for (const auto each :
       {AdmissionOperation::kCreate, AdmissionOperation::kUpdate, AdmissionOperation::kDelete, AdmissionOperation::kConnect}) {
    if (admission_operation_name(each) == name) return each;
  }
  return std::nullopt;
}

void take_options(const Object& request, AdmissionAttributes& attributes) {
  const Object& from = object_or_empty(request, "options");
  if (attributes.operation == AdmissionOperation::kConnect) return;
  if (attributes.operation == AdmissionOperation::kDelete) {
    DeleteOptions options;
    options.dry_run = attributes.dry_run;
    const std::string_view policy = get_string(from, "propagationPolicy");
    if (!policy.empty()) options.propagation_policy = policy;
    const Value* grace = from.if_contains("gracePeriodSeconds");
    if (grace != nullptr && grace->is_int64()) options.grace_period_seconds = grace->get_int64();
    attributes.options = std::move(options);
    return;
  }
  WriteOptions options;
  options.dry_run = attributes.dry_run;
  options.field_manager = get_string(from, "fieldManager");
  attributes.options = std::move(options);
}

Status take_request(const Object& request, Write& write) {
  const auto operation = operation_of(get_string(request, "operation"));
  if (!operation) return bad_request("request.operation: must be CREATE, UPDATE, DELETE or CONNECT");
  AdmissionAttributes& to = write.attributes;
  to.operation = *operation;
  to.resource = resource_of(request, "resource");
  to.kind = kind_of(request, "kind");
  to.subresource = get_string(request, "subResource");
  to.request_resource = request.contains("requestResource") ? resource_of(request, "requestResource") : to.resource;
  to.request_kind = request.contains("requestKind") ? kind_of(request, "requestKind") : to.kind;
  to.ns = get_string(request, "namespace");
  to.name = get_string(request, "name");
  to.dry_run = get_bool(request, "dryRun").value_or(false);
  write.context.user = user_of(request);
  write.context.dry_run = to.dry_run;
  to.user = write.context.user;
  to.context = &write.context;
  take_options(request, to);
  write.object = object_or_empty(request, "object");
  write.old_object = object_or_empty(request, "oldObject");
  if (const Value* object = request.if_contains("object"); object != nullptr && object->is_object()) to.object = &write.object;
  if (const Value* old = request.if_contains("oldObject"); old != nullptr && old->is_object()) to.old_object = &write.old_object;
  return {};
}

Object answer_of(const Write& write, std::string_view uid, const Object& before, Status admitted) {
  Object response{{"uid", uid}, {"allowed", admitted.ok()}};
  if (!admitted.ok()) response["status"] = std::move(*parse_json(admitted.to_json(), {}, nullptr));
  if (admitted.ok() && write.attributes.object != nullptr) {
    if (const Array patch = json_difference(before, write.object); !patch.empty()) {
      response["patchType"] = "JSONPatch";
      response["patch"] = to_base64(to_json(patch));
    }
  }
  if (const auto warnings = write.context.warnings(); !warnings.empty()) response["warnings"] = Array(warnings.begin(), warnings.end());
  Object annotations;
  for (const auto& [key, value] : write.context.audit_annotations()) {
    std::string flat = key;
    std::replace(flat.begin(), flat.end(), '/', '.');
    annotations[flat] = value;
  }
  if (!annotations.empty()) response["auditAnnotations"] = std::move(annotations);
  return response;
}

}  // namespace

Task<Result<std::string>> answer_review(AdmissionRunner& rule, bool mutating, std::string body) {
  auto parsed = parse_json(body, {}, nullptr);
  if (!parsed.ok()) co_return bad_request("the body is not JSON: " + parsed.status().message());
  const Object* review = parsed->if_object();
  if (review == nullptr || get_string(*review, "kind") != kKind || get_string(*review, "apiVersion") != kReviewVersion) {
    co_return bad_request("the body must be an AdmissionReview of admission.k8s.io/v1");
  }
  const Object& request = object_or_empty(*review, "request");
  const std::string uid(get_string(request, "uid"));
  if (uid.empty()) co_return bad_request("request.uid: must not be empty");
  Write write;
  if (Status taken = take_request(request, write); !taken.ok()) co_return taken;
  const Object before = write.object;
  auto stepping = mutating ? rule.admit(write.attributes) : rule.validate(write.attributes);
  Status admitted = co_await std::move(stepping);
  Object response = answer_of(write, uid, before, std::move(admitted));
  co_return to_json(Object{{"kind", kKind}, {"apiVersion", kReviewVersion}, {"response", std::move(response)}});
}

}  // namespace backplane

#include "nodes/restrict_tokens.hpp"

#include "backplane/core/json_access.hpp"
#include "nodes/volume_drivers.hpp"

namespace backplane::admission::nodes {
namespace {

AuthorizationAttributes audience_right(const AdmissionAttributes& attributes, const std::string& audience) {
  AuthorizationAttributes out;
  out.user = attributes.user;
  out.verb = "request-serviceaccounts-token-audience";
  out.resource_request = true;
  out.api_version = "v1";
  out.ns = attributes.ns;
  out.resource = audience;
  out.name = attributes.name;
  return out;
}

TokenDecision check_audience(const NodeRequest& request, const Object& token_spec, const Object& pod) {
  const std::vector<std::string> audiences = texts_of(token_spec, "audiences");
  if (audiences.size() > 1) return {request.refuse("node may only request 0 or 1 audiences"), {}};
  const std::string audience = audiences.empty() ? std::string() : audiences.front();
  const auto uses = pod_uses_audience(*request.data.volumes, pod, audience);
  if (!uses.ok()) return {request.refuse("error validating audience " + quoted(audience) + ": " + uses.status().message()), {}};
  if (*uses) return {};
  return {Status(), audience_right(request.attributes, audience)};
}

// Checks the reference to the pod that the token is bound to.
Status check_reference(const NodeRequest& request, const Object& reference) {
  const bool pod =
      get_string(reference, "apiVersion") == "v1" && get_string(reference, "kind") == "Pod" && !get_string(reference, "name").empty();
  if (!pod) return request.refuse("node requested token not bound to a pod");
  if (get_string(reference, "uid").empty()) return request.refuse("node requested token with a pod binding without a uid");
  return {};
}

Status check_pod(const NodeRequest& request, const Object& reference, const Object& pod) {
  const std::string uid(get_string(reference, "uid"));
  if (uid != meta_text(pod, "uid")) {
    return request.refuse("the UID in the bound object reference (" + uid +
                          ") does not match the UID in record. The object might have been deleted and then recreated");
  }
  if (get_string_path(pod, "spec.nodeName") == request.node) return {};
  return request.refuse("node requested token bound to a pod scheduled on a different node");
}

}  // namespace

TokenDecision restrict_token(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  if (attributes.operation != AdmissionOperation::kCreate || attributes.subresource != "token") return {};
  const Object& spec = object_or_empty(*attributes.object, "spec");
  const Object& reference = object_or_empty(spec, "boundObjectRef");
  if (Status status = check_reference(request, reference); !status.ok()) return {std::move(status), {}};
  const std::string_view name = get_string(reference, "name");
  const auto pod = request.data.pods.find(attributes.ns, name);
  if (!pod) return {request.data.pods.missing(name), {}};
  if (Status status = check_pod(request, reference, *pod); !status.ok()) return {std::move(status), {}};
  if (!request.data.volumes) return {};
  return check_audience(request, spec, *pod);
}

Status conclude_token(const NodeRequest& request, const AuthorizationAttributes& right, const AuthorizerResult& result) {
  if (result.decision == Decision::kAllow) return {};
  const std::string user = right.user->name;
  const std::string found = "audience " + quoted(right.resource) + " not found in pod spec volume, ";
  if (!result.error.ok()) {
    return request.refuse(found + "error authorizing " + user + " to request tokens for this audience: " + result.error.message());
  }
  return request.refuse(found + user + " is not authorized to request tokens for this audience");
}

}  // namespace backplane::admission::nodes

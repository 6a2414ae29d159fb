#include "accounts/mirror_pods.hpp"
#include "backplane/core/json_access.hpp"
#include "certificates/request_subject.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

// A stale cache may be the cause, so the error is not a refusal, and the client may retry.
Status stale(std::string message) { return {500, Reason::kNone, std::move(message)}; }

// Checks a PodCertificateRequest: each step compares the request with one object.
class PodCertificateCheck {
 public:
  explicit PodCertificateCheck(const NodeRequest& request)
      : request_(request),
        spec_(object_or_empty(*request.attributes.object, "spec")),
        pod_(quoted(request.attributes.ns + "/" + text("podName"))) {}

  Status run() const {
    Status status = node();
    if (status.ok()) status = pod();
    return status;
  }

 private:
  std::string text(std::string_view key) const { return std::string(get_string(spec_, key)); }
  std::string of_pod() const { return "PodCertificateRequest for pod " + pod_; }
  static Status missing(const std::string& what, const Status& error) {
    return stale("while retrieving " + what + " named in the PodCertificateRequest: " + error.message());
  }

  Status node() const {
    const std::string name = text("nodeName");
    if (name != request_.node) {
      return request_.refuse("PodCertificateRequest.Spec.NodeName=" + quoted(name) + ", which is not the requesting node " +
                             quoted(request_.node));
    }
    const auto found = request_.data.nodes.find("", name);
    if (!found) return missing("node " + quoted(name), request_.data.nodes.missing(name));
    if (meta_text(*found, "uid") == get_string(spec_, "nodeUID")) return {};
    return stale(of_pod() + " names node UID " + quoted(text("nodeUID")) + ", inconsistent with the running node (" +
                 quoted(meta_text(*found, "uid")) + ")");
  }

  Status pod() const {
    const auto found = request_.data.pods.find(request_.attributes.ns, text("podName"));
    if (!found) return missing("pod " + pod_, request_.data.pods.missing(text("podName")));
    if (meta_text(*found, "uid") != get_string(spec_, "podUID")) {
      return stale(of_pod() + " contains pod UID (" + quoted(text("podUID")) + ") which differs from running pod " +
                   quoted(meta_text(*found, "uid")));
    }
    if (get_string_path(*found, "spec.nodeName") != get_string(spec_, "nodeName")) {
      return request_.refuse("pod " + pod_ + " is not running on node " + quoted(text("nodeName")) + " named in the PodCertificateRequest");
    }
    if (accounts::is_mirror_pod(*found)) return request_.refuse("pod " + pod_ + " is a mirror pod");
    return account(get_string_path(*found, "spec.serviceAccountName"));
  }

  // `running`: the account of the pod.
  Status account(std::string_view running) const {
    const std::string name = text("serviceAccountName"), account_key = quoted(request_.attributes.ns + "/" + name);
    if (name != running) {
      return request_.refuse(of_pod() + " contains serviceAccountName (" + quoted(name) + ") that differs from running pod (" +
                             quoted(running) + ")");
    }
    const auto found = request_.data.accounts.find(request_.attributes.ns, name);
    if (!found) return missing("service account " + account_key, request_.data.accounts.missing(name));
    if (meta_text(*found, "uid") == get_string(spec_, "serviceAccountUID")) return {};
    return stale(of_pod() + " names service account UID " + quoted(text("serviceAccountUID")) +
                 ", which differs from the running service account (" + quoted(meta_text(*found, "uid")) + ")");
  }

  const NodeRequest& request_;
  const Object& spec_;
  const std::string pod_;  // quoted, with its namespace
};

bool is_kubelet_signer(std::string_view signer) {
  return signer == "kubernetes.io/kubelet-serving" || signer == "kubernetes.io/kube-apiserver-client-kubelet";
}

}  // namespace

Status restrict_signing_request(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  if (request.data.insecure_certificate_requests || attributes.operation != AdmissionOperation::kCreate) return {};
  const Object& spec = object_or_empty(*attributes.object, "spec");
  if (!is_kubelet_signer(get_string(spec, "signerName"))) return {};
  const auto subject = certificates::read_request_subject(get_string(spec, "request"));
  if (!subject.ok()) return request.refuse("unable to parse csr: " + subject.status().message());
  const std::string wanted = "system:node:" + std::string(request.node);
  return subject->common_name == wanted ? Status() : request.refuse("can only create a node CSR with CN=" + wanted);
}

Status restrict_pod_certificate(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  if (!request.data.pod_certificate_requests) return request.refuse("PodCertificateRequest feature gate is disabled");
  if (attributes.operation != AdmissionOperation::kCreate) {
    return request.refuse("unexpected operation " + std::string(admission_operation_name(attributes.operation)));
  }
  if (!attributes.subresource.empty()) return request.refuse("unexpected subresource " + attributes.subresource);
  return PodCertificateCheck(request).run();
}

}  // namespace backplane::admission::nodes

#include <array>

#include "certificates/controllers.hpp"
#include "certificates/request.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kKubeletClient = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr int kApproverWorkers = 5;

GroupVersionResource requests_to_approve() { return {"certificates.k8s.io", "v1", "certificatesigningrequests"}; }

bool is_open(const Object& csr) {
  return !is_issued(csr) && find_condition(csr, "Approved") == nullptr && find_condition(csr, "Denied") == nullptr;
}

bool is_kubelet_client(const Object& csr, const ParsedRequest& request) {
  return get_string_path(csr, "spec.signerName") == kKubeletClient && kubelet_client_problem(request, usages_of(csr)).empty();
}
bool is_own_kubelet_client(const Object& csr, const ParsedRequest& request) {
  return get_string_path(csr, "spec.username") == request.common_name && is_kubelet_client(csr, request);
}

// A kind of request. It may be approved if the requester is authorized to create this subresource of certificatesigningrequests.
struct Recognizer {
  bool (*recognizes)(const Object& csr, const ParsedRequest& request);
  std::string_view subresource, message;
};
constexpr std::array kRecognizers = {
    Recognizer{is_own_kubelet_client, "selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."},
    Recognizer{is_kubelet_client, "nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}};

struct Approver {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;

  Task<Status> reconcile(std::string name) {
    auto csr = cached(*informer, name);
    if (!csr || !is_open(*csr)) co_return Status();
    auto request = parse_request(*csr);
    // The request does not change, so a retry would have the same result.
    if (!request.ok()) co_return Status();
    std::string tried;
    for (const Recognizer& recognizer : kRecognizers) {
      if (!recognizer.recognizes(*csr, *request)) continue;
      tried += (tried.empty() ? "" : " ") + std::string(recognizer.subresource);
      auto asking = may_create(*csr, recognizer.subresource);
      auto allowed = co_await std::move(asking);
      if (!allowed.ok()) co_return std::move(allowed).status();
      if (!*allowed) continue;
      auto approving = approve(std::move(*csr), recognizer.message);
      co_return co_await std::move(approving);
    }
    if (tried.empty()) co_return Status();
    // Returns an error, so that the request is examined again: the rights of the requester may change.
    co_return internal_error("recognized csr " + quoted(name) + " as [" + tried + "] but subject access review was not approved");
  }

  Task<Result<bool>> may_create(const Object& csr, std::string_view subresource) {
    Object review;
    Object& spec = ensure_object(review, "spec");
    const Object& from = object_or_empty(csr, "spec");
    spec["resourceAttributes"] = Object{{"verb", "create"},
                                        {"group", "certificates.k8s.io"},
                                        {"version", "*"},
                                        {"resource", "certificatesigningrequests"},
                                        {"subresource", subresource}};
    spec["user"] = get_string(from, "username");
    for (const std::string_view member : {"groups", "extra", "uid"}) {
      if (const Value* value = find(from, member)) spec[member] = *value;
    }
    auto reviewed = co_await api.create({"authorization.k8s.io", "v1", "subjectaccessreviews"}, "", std::move(review));
    if (!reviewed.ok()) co_return std::move(reviewed).status();
    co_return get_bool(object_or_empty(*reviewed, "status"), "allowed").value_or(false);
  }

  Task<Status> approve(Object csr, std::string_view message) {
    Object condition{{"type", "Approved"}, {"status", "True"}, {"reason", "AutoApproved"}, {"message", message}};
    ensure_array(ensure_object(csr, "status"), "conditions").push_back(std::move(condition));
    auto written = co_await api.update(requests_to_approve(), "", std::move(csr), "approval");
    co_return written.ok() ? Status() : unless_gone(std::move(written).status());
  }
};

}  // namespace

Status start_request_approver(const Context& context) {
  const auto informer = context.term->informer(requests_to_approve());
  const auto queue = context.term->queue(item_exponential_failure_rate_limiter(std::chrono::milliseconds(200), std::chrono::seconds(1000)));
  context.term->handle(informer, enqueue_wanted(queue, is_open));
  const auto controller = std::make_shared<Approver>(Approver{context.api, informer});
  context.work(queue, kApproverWorkers, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers

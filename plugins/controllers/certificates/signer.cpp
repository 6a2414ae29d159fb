#include <algorithm>
#include <array>

#include "backplane/types/base64.hpp"
#include "backplane/types/durations.hpp"
#include "certificates/authority.hpp"
#include "certificates/controllers.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr int kSignerWorkers = 5;
constexpr std::chrono::seconds kShortestValidity = std::chrono::minutes(10);
constexpr std::chrono::seconds kDefaultValidity = std::chrono::hours(8760);

GroupVersionResource requests_to_sign() { return {"certificates.k8s.io", "v1", "certificatesigningrequests"}; }

// Returns the problem of a request; empty: none.
using Verify = std::string (*)(const Object& csr, const ParsedRequest& request);
struct Signer {
  std::string_view name;
  Verify problem;
};
constexpr std::array kSigners = {
    Signer{"kubernetes.io/kubelet-serving",
           [](const Object& csr, const ParsedRequest& request) { return kubelet_serving_problem(request, usages_of(csr)); }},
    Signer{"kubernetes.io/kube-apiserver-client-kubelet",
           [](const Object& csr, const ParsedRequest& request) { return kubelet_client_problem(request, usages_of(csr)); }},
    Signer{"kubernetes.io/kube-apiserver-client", [](const Object& csr, const ParsedRequest&) { return client_problem(csr); }},
    Signer{"kubernetes.io/legacy-unknown", [](const Object&, const ParsedRequest&) { return std::string(); }}};

const Signer* signer_of(const Object& csr) {
  const std::string_view name = get_string_path(csr, "spec.signerName");
  const auto found = std::find_if(kSigners.begin(), kSigners.end(), [&](const Signer& signer) { return signer.name == name; });
  return found == kSigners.end() ? nullptr : &*found;
}

bool wants_signature(const Object& csr) {
  return !is_issued(csr) && has_true_condition(csr, "Approved") && find_condition(csr, "Denied") == nullptr &&
         !has_true_condition(csr, "Failed") && signer_of(csr) != nullptr;
}

struct RequestSigner {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;
  Authority authority;
  std::chrono::seconds longest;

  Task<Status> reconcile(std::string name) {
    auto csr = cached(*informer, name);
    if (!csr || !wants_signature(*csr)) co_return Status();
    auto request = parse_request(*csr);
    if (!request.ok()) co_return std::move(request).status();
    const std::string problem = signer_of(*csr)->problem(*csr, *request);
    if (!problem.empty()) {
      fail(*csr, problem);
    } else {
      Result<std::string> certificate;
      co_await run_blocking(
          [&] { certificate = authority.sign(*request, texts_of(object_or_empty(*csr, "spec"), "usages"), validity(*csr)); });
      if (!certificate.ok()) co_return std::move(certificate).status();
      ensure_object(*csr, "status")["certificate"] = to_base64(*certificate);
    }
    auto written = co_await api.update(requests_to_sign(), "", std::move(*csr), "status");
    co_return written.ok() ? Status() : unless_gone(std::move(written).status());
  }

  static void fail(Object& csr, const std::string& problem) {
    Object condition;
    condition["type"] = "Failed";
    condition["status"] = "True";
    condition["reason"] = "SignerValidationFailure";
    condition["message"] = problem;
    condition["lastUpdateTime"] = now_rfc3339();
    ensure_array(ensure_object(csr, "status"), "conditions").push_back(std::move(condition));
  }

  std::chrono::seconds validity(const Object& csr) const {
    const auto wanted = get_int_path(csr, "spec.expirationSeconds");
    if (!wanted || *wanted > longest.count()) return longest;
    return std::max(std::chrono::seconds(*wanted), kShortestValidity);
  }
};

}  // namespace

Status start_request_signer(const Context& context) {
  const std::string certificate = context.host.flag("cluster-signing-cert-file").value_or("");
  const std::string key = context.host.flag("cluster-signing-key-file").value_or("");
  if (certificate.empty() && key.empty()) return {};  // as upstream, the controller does not run
  Authority authority(certificate, key);
  Status usable = authority.check();
  if (!usable.ok()) return usable;
  const auto longest = parse_duration(context.host.flag("cluster-signing-duration").value_or(""));
  const auto informer = context.term->informer(requests_to_sign());
  const auto queue = context.term->queue(item_exponential_failure_rate_limiter(std::chrono::milliseconds(200), std::chrono::seconds(1000)));
  context.term->handle(informer, enqueue_wanted(queue, wants_signature));
  const auto controller = std::make_shared<RequestSigner>(
      RequestSigner{context.api, informer, std::move(authority),
                    longest ? std::chrono::duration_cast<std::chrono::seconds>(*longest) : kDefaultValidity});
  context.work(queue, kSignerWorkers, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers

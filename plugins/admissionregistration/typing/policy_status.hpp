// The controller validatingadmissionpolicy-status: writes status.observedGeneration and status.typeChecking of each
// ValidatingAdmissionPolicy whose spec has changed. The controller of kube-controller-manager applies the same fields under the same field
// manager. Both may run, because each skips a policy whose generation is already observed.
//
//   auto controller = std::make_shared<PolicyStatus>(api, informer);
//   informer->add_event_handler(enqueue_keys(queue));
//   spawn_workers(host, PolicyStatus::kName, PolicyStatus::kWorkers, queue,
//                 [controller](std::string name) { return controller->reconcile(std::move(name)); });
//
// Thread-safety: every call on the executor of the workers.
// Lifetime:      shared by the workers.
// Errors:        reconcile() returns the error of the API call; the queue repeats the item.
// Source:        k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus.
#pragma once

#include <memory>
#include <string>

#include "backplane/controller.hpp"
#include "typing/type_checker.hpp"

namespace backplane::admissionregistration {

class PolicyStatus {
 public:
  // The controller's name in --controllers of kube-controller-manager, and the ServiceAccount with whose rights it acts.
  static constexpr const char* kName = "validatingadmissionpolicy-status-controller";
  static constexpr const char* kManager = "validatingadmissionpolicy-status";  // in metadata.managedFields
  static constexpr int kWorkers = 1;                                           // one, so that each document of schemas is fetched once

  static GroupVersionResource policies() { return {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"}; }

  // `policies`: the informer of policies().
  PolicyStatus(ApiClient api, std::shared_ptr<SharedInformer> policies)
      : api_(api), policies_(std::move(policies)), types_(std::move(api)) {}
  Task<Status> reconcile(std::string name);

 private:
  ApiClient api_;
  const std::shared_ptr<SharedInformer> policies_;
  ServedTypes types_;
};

}  // namespace backplane::admissionregistration

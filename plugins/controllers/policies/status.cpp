#include "policies/controllers.hpp"
#include "typing/policy_status.hpp"

namespace backplane::controllers {

Status start_policy_status(const Context& context) {
  using admissionregistration::PolicyStatus;
  const auto informer = context.term->informer(PolicyStatus::policies());
  const auto queue = context.term->queue();
  const auto controller = std::make_shared<PolicyStatus>(context.api, informer);
  context.term->handle(informer, enqueue_keys(queue));
  context.work(queue, PolicyStatus::kWorkers, [controller](std::string name) { return controller->reconcile(std::move(name)); },
               {informer});
  return {};
}

}  // namespace backplane::controllers

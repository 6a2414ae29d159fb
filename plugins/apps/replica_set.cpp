// ReplicaSets.
#include "backplane/kit/table.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/strategy.hpp"
#include "kinds.hpp"

namespace backplane::apps {

using namespace kit;
using namespace workload;

KindRow replica_set_row(PodValidationOptions options) {
  // Upstream's word for the selector, copied from deployments.
  constexpr WorkloadFacts kWorkload{.selector_kind = "deployment", .bad_selector = "invalid label selector", .names_hosts = true};
  return {
      .resource = "replicasets",
      .kind = "ReplicaSet",
      .short_names = {"rs"},
      .categories = {"all"},
      .facts = {.generation = true,
                .status = true,
                .columns = with_template_columns({name_column(), number_column("Desired", "Pods that are wanted.", ".spec.replicas"),
                                                  number_column("Current", "Pods there are.", ".status.replicas"),
                                                  number_column("Ready", "Pods that are ready.", ".status.readyReplicas"), age_column()},
                                                 show_selector)},
      .make = made<WorkloadStrategy>(kWorkload, options),
      .scale = Host::ScalePaths{},
      .storage_prefix = "replicasets"};
}

}  // namespace backplane::apps

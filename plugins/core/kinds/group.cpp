// Assembles the core group.
#include "backplane/workload/printing.hpp"
#include "core_group_json.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {

Result<kit::GroupDocument> core_group(CoreOptions options) {
  GroupCode code{.printers = workload::printers()};
  add_endpoints_and_events(code, options.event_ttl);
  add_limits_and_quotas(code);
  add_namespaces(code);
  add_nodes(code);
  add_pods(code, options.pods);
  add_secrets(code);
  add_services(code, std::move(options.services));
  add_templates_and_controllers(code, options.pods);
  add_volumes_and_claims(code, options.mutable_node_affinity);
  return kit::read_group(core_group_json(), code);
}

}  // namespace backplane::core

// The kinds of the core group: their behaviour beyond schema/core_group.json, and the strategies of subresources that are not /status.
//
// `options`: the host's flags for pods.
// Thread-safety: pure functions; strategies are const, any thread.
#pragma once

#include <chrono>
#include <memory>

#include "backplane/kit/group_document.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::core {

using kit::GroupCode;

// The code of the kinds, one function per file.
void add_endpoints_and_events(GroupCode& code, std::chrono::seconds event_ttl);
void add_limits_and_quotas(GroupCode& code);
void add_namespaces(GroupCode& code);
void add_nodes(GroupCode& code);
void add_pods(GroupCode& code, workload::PodValidationOptions options);
void add_secrets(GroupCode& code);
void add_services(GroupCode& code, std::shared_ptr<const StoreHooks> hooks);
void add_templates_and_controllers(GroupCode& code, workload::PodValidationOptions options);
void add_volumes_and_claims(GroupCode& code, bool mutable_node_affinity);

struct CoreOptions {
  workload::PodValidationOptions pods = {};
  std::chrono::seconds event_ttl{0};                // 0: events do not expire
  std::shared_ptr<const StoreHooks> services = {};  // null: services get no addresses and ports
  bool mutable_node_affinity = false;               // gate MutablePVNodeAffinity: the node affinity of PersistentVolumes may change
};
// Returns the document of the group (schema/core_group.json) together with the code of its kinds.
Result<kit::GroupDocument> core_group(CoreOptions options = {});

std::shared_ptr<const Strategy> namespace_finalize_strategy();
std::shared_ptr<const Strategy> pod_status_strategy(std::shared_ptr<const Strategy> parent);
std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> pod_resize_strategy(workload::PodValidationOptions options = {});
// The strategy of changes by a binding or an eviction: the pod is stored without further checks.
std::shared_ptr<const Strategy> pod_binding_strategy();

}  // namespace backplane::core

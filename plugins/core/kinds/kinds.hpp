// The kinds of the core group: what they do beyond schema/core_group.json, and the strategies of subresources that are not /status.
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

// Code of the kinds, one function a file.
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
  std::chrono::seconds event_ttl{0};                // 0: events stay
  std::shared_ptr<const StoreHooks> services = {};  // null: services are given nothing
  bool mutable_node_affinity = false;               // gate MutablePVNodeAffinity: of volumes
};
// The group: its document (schema/core_group.json) with this code.
Result<kit::GroupDocument> core_group(CoreOptions options = {});

std::shared_ptr<const Strategy> namespace_finalize_strategy();
std::shared_ptr<const Strategy> pod_status_strategy(std::shared_ptr<const Strategy> parent);
std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> pod_resize_strategy(workload::PodValidationOptions options = {});
// Changes of the scheduler's doing: everything is as the binding made it.
std::shared_ptr<const Strategy> pod_binding_strategy();

}  // namespace backplane::core

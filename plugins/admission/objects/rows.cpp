#include "objects/rows.hpp"

#include <array>

#include "objects/always.hpp"
#include "objects/event_rate_limit.hpp"
#include "objects/job_validation.hpp"
#include "objects/namespace_auto_provision.hpp"
#include "objects/namespace_exists.hpp"
#include "objects/owner_permissions.hpp"
#include "objects/pod_group_protection.hpp"
#include "objects/pod_group_workload_exists.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kObjectRows = {
    PluginRow{"AlwaysAdmit", &make_always_admit},
    PluginRow{"AlwaysDeny", &make_always_deny},
    PluginRow{"NamespaceAutoProvision", &objects::make_namespace_auto_provision},
    PluginRow{"NamespaceExists", &objects::make_namespace_exists},
    PluginRow{"EventRateLimit", &objects::make_event_rate_limit},
    PluginRow{"PodGroupProtection", &objects::make_pod_group_protection},
    PluginRow{"OwnerReferencesPermissionEnforcement", &objects::make_owner_permissions},
    PluginRow{"PodGroupWorkloadExists", &objects::make_pod_group_workload_exists},
    PluginRow{"JobValidation", &objects::make_job_validation},
};

}  // namespace

std::span<const PluginRow> object_plugins() { return kObjectRows; }

}  // namespace backplane::admission

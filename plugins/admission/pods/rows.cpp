#include "pods/rows.hpp"

#include <array>

#include "pods/always_pull_images.hpp"
#include "pods/anti_affinity_topology.hpp"
#include "pods/declared_features.hpp"
#include "pods/default_toleration_seconds.hpp"
#include "pods/extended_resource_toleration.hpp"
#include "pods/image_policy.hpp"
#include "pods/limit_ranger.hpp"
#include "pods/pod_node_selector.hpp"
#include "pods/pod_resize_validator.hpp"
#include "pods/pod_topology_labels.hpp"
#include "pods/priority.hpp"
#include "pods/runtime_class.hpp"
#include "pods/toleration_restriction.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kPodRows = {
    PluginRow{"LimitPodHardAntiAffinityTopology", &pods::make_anti_affinity_topology},
    PluginRow{"LimitRanger", &pods::make_limit_ranger},
    PluginRow{"AlwaysPullImages", &pods::make_always_pull_images},
    PluginRow{"ImagePolicyWebhook", &pods::make_image_policy},
    PluginRow{"PodNodeSelector", &pods::make_pod_node_selector},
    PluginRow{"Priority", &pods::make_priority},
    PluginRow{"DefaultTolerationSeconds", &pods::make_default_toleration_seconds},
    PluginRow{"PodTolerationRestriction", &pods::make_toleration_restriction},
    PluginRow{"ExtendedResourceToleration", &pods::make_extended_resource_toleration},
    PluginRow{"RuntimeClass", &pods::make_runtime_class},
    PluginRow{"PodTopologyLabels", &pods::make_pod_topology_labels},
    PluginRow{"NodeDeclaredFeatureValidator", &pods::make_declared_features},
    PluginRow{"PodResizeValidator", &pods::make_pod_resize_validator},
};

}  // namespace

std::span<const PluginRow> pod_plugins() { return kPodRows; }

}  // namespace backplane::admission

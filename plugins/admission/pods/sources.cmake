set(sources rows.cpp always_pull_images.cpp anti_affinity_topology.cpp declared_features.cpp default_toleration_seconds.cpp
  extended_resource_toleration.cpp image_policy.cpp image_policy_config.cpp image_review.cpp limit_defaults.cpp limit_ranger.cpp
  limit_ranges.cpp limit_rules.cpp node_selectors.cpp pod_namespace_plugin.cpp pod_node_selector.cpp pod_resize_validator.cpp pod_topology_labels.cpp priority.cpp
  priority_classes.cpp quantities.cpp runtime_class.cpp scheduled_pod_update.cpp toleration_config.cpp
  toleration_restriction.cpp tolerations.cpp)
set(tests image_policy_test.cpp limit_ranger_test.cpp pod_node_selector_test.cpp pod_plugins_test.cpp priority_test.cpp
  tolerations_test.cpp)

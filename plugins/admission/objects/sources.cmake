set(sources rows.cpp always.cpp cached_objects.cpp event_limits.cpp event_rate_limit.cpp job_validation.cpp
  namespace_auto_provision.cpp namespace_exists.cpp namespaces.cpp owner_changes.cpp owner_permissions.cpp owner_resources.cpp
  pod_group_protection.cpp pod_group_workload_exists.cpp)
set(tests event_limits_test.cpp object_plugins_test.cpp owner_permissions_test.cpp)

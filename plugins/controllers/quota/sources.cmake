set(sources resource_quota.cpp usage.cpp pod_changes.cpp)
set(tests pod_changes_test.cpp)

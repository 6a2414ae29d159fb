set(sources resource_quota.cpp usage.cpp)
set(tests)

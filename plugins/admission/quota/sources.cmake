# The evaluators are a library of their own: library.cmake.
set(sources rows.cpp resource_quota.cpp charged_write.cpp usage_owner.cpp quota_reader.cpp evaluation.cpp limits_config.cpp device_classes.cpp)
set(tests charging_test.cpp usage_test.cpp usage_owner_test.cpp evaluation_test.cpp)

set(sources rows.cpp resource_quota.cpp charged_write.cpp usage_owner.cpp quota_reader.cpp stored_list.cpp evaluation.cpp limits_config.cpp scopes.cpp resource_list.cpp
  evaluators.cpp pods.cpp pod_resources.cpp services.cpp volume_claims.cpp resource_claims.cpp device_classes.cpp claim_owner.cpp)
set(tests charging_test.cpp usage_test.cpp usage_owner_test.cpp evaluation_test.cpp)

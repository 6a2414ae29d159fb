set(sources rows.cpp levels.cpp check_app_armor.cpp check_capabilities.cpp check_host.cpp check_host_fields.cpp check_kernel.cpp
  check_privileges.cpp check_seccomp.cpp check_users.cpp check_volumes.cpp configuration.cpp counters.cpp evaluator.cpp existing_pods.cpp
  namespace_review.cpp pod_review.cpp pod_security.cpp review.cpp)
set(tests fixtures_test.cpp levels_test.cpp pod_security_test.cpp)

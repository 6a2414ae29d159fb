# pod_resources.cpp and resource_list.cpp belong to quota/library.cmake.
set(sources access_checks.cpp label_selectors.cpp request_fields.cpp resource_rules.cpp served_as.cpp
  services.cpp versioned_objects.cpp)
set(tests label_selectors_test.cpp resource_rules_test.cpp)

# quota_evaluators: how objects count against quotas, a static library that the plugins admission and controllers share.
if(NOT TARGET quota_evaluators)
  set(evaluator_sources claim_owner.cpp evaluators.cpp pod_usage.cpp pods.cpp resource_claims.cpp scopes.cpp services.cpp stored_list.cpp volume_claims.cpp
    ../common/pod_resources.cpp ../common/resource_list.cpp)
  list(TRANSFORM evaluator_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  backplane_unity(sources quota_evaluators ${evaluator_sources})
  add_library(quota_evaluators STATIC ${sources})
  get_filename_component(evaluator_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  target_include_directories(quota_evaluators PUBLIC ${evaluator_root})
  target_link_libraries(quota_evaluators PUBLIC backplane_kit backplane_sdk PRIVATE backplane_options)
  backplane_pch(quota_evaluators)
endif()

# Libraries of this folder that other plugins link, whichever plugins are built.
include_guard(GLOBAL)
set(folder ${CMAKE_CURRENT_LIST_DIR})

# Type checking of policies, for the plugin that runs controllers.
backplane_unity(sources backplane_policy_typing ${folder}/typing/policy_status.cpp ${folder}/typing/populated_schema.cpp
  ${folder}/typing/served_types.cpp ${folder}/typing/type_checker.cpp)
add_library(backplane_policy_typing STATIC ${sources})

# The kinds alone, for the plugin that reads their objects from manifests.
backplane_unity(sources backplane_registration_kinds ${folder}/group.cpp ${folder}/policies.cpp ${folder}/registration_kinds.cpp ${folder}/rules.cpp
  ${folder}/webhooks.cpp)
add_library(backplane_registration_kinds STATIC ${sources})
backplane_embed(backplane_registration_kinds ${folder}/schema/admissionregistration_group.json ${folder}/schema/admissionregistration_v1.json
  ${folder}/schema/admissionregistration_v1beta1.json ${folder}/schema/admissionregistration_v1alpha1.json)

foreach(library IN ITEMS backplane_policy_typing backplane_registration_kinds)
  target_include_directories(${library} PUBLIC ${folder})
  target_link_libraries(${library} PUBLIC backplane_kit backplane_sdk PRIVATE backplane_options)
  backplane_pch(${library})
endforeach()

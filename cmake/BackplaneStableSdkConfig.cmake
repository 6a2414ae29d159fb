# find_package(BackplaneStableSdk): the function backplane_add_stable_plugin(), and the headers backplane/stable.
get_filename_component(BACKPLANE_STABLE_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/BackplaneStable.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/BackplaneTesting.cmake")

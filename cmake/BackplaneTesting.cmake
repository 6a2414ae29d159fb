# The target backplane::testing (backplane/testing/host.hpp), and backplane_add_plugin_test():
#
#   backplane_add_plugin_test(NAME PLUGIN target SOURCES x_test.cpp … [LIBRARIES t …])
#
# makes the program NAME, which ctest runs: its sources find the file of the plugin `target` as BACKPLANE_PLUGIN_FILE, a string literal.
# The sources are in C or C++; LIBRARIES are for example GTest::gtest_main. No Boost is needed.
# Where the headers are installed without the test host, the target does not exist and the program is left out, with a line that says so.
get_filename_component(_backplane_testing_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET backplane::testing AND EXISTS "${_backplane_testing_prefix}/lib/libbackplane-testing.so")
  add_library(backplane::testing SHARED IMPORTED)
  set_target_properties(backplane::testing PROPERTIES IMPORTED_LOCATION ${_backplane_testing_prefix}/lib/libbackplane-testing.so
    INTERFACE_INCLUDE_DIRECTORIES ${_backplane_testing_prefix}/include)
  # The libraries that it needs are found by its run path; a linker that wants them by name finds the SDK's here.
  set_target_properties(backplane::testing PROPERTIES INTERFACE_LINK_OPTIONS
    "-Wl,-rpath-link,${_backplane_testing_prefix}/lib;-Wl,--allow-shlib-undefined")
endif()

# A macro, because enable_testing() sets a variable of the directory, which would end with a function.
macro(backplane_add_plugin_test)
  enable_testing()
  _backplane_add_plugin_test(${ARGN})
endmacro()

function(_backplane_add_plugin_test name)
  cmake_parse_arguments(ARG "" "PLUGIN" "SOURCES;LIBRARIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES OR NOT TARGET "${ARG_PLUGIN}")
    message(FATAL_ERROR "backplane_add_plugin_test(NAME PLUGIN target SOURCES file… [LIBRARIES target…]); got: ${ARGV}")
  endif()
  if(NOT TARGET backplane::testing)
    message(STATUS "${name} is not built: the Backplane installation has no lib/libbackplane-testing.so")
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES C_STANDARD 11 CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  target_compile_definitions(${name} PRIVATE BACKPLANE_PLUGIN_FILE="$<TARGET_FILE:${ARG_PLUGIN}>")
  target_link_libraries(${name} PRIVATE backplane::testing ${ARG_LIBRARIES})
  add_dependencies(${name} ${ARG_PLUGIN})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# The install tree: bin/backplane, lib/libbackplane-sdk.so, lib/libbackplane-workload.a, lib/backplane/plugins, include/backplane, lib/cmake/BackplanePluginSdk.
# (backplane_add_plugin() installs the built-in plugins.)
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/BackplaneContract.cmake)

set(_BACKPLANE_INSTALL_DIR ${CMAKE_CURRENT_LIST_DIR})

# The version stands in the C header, where plugins take their stamp from, and in project().
function(_backplane_check_sdk_version)
  file(STRINGS ${CMAKE_SOURCE_DIR}/plugin-sdk/include/backplane/descriptor.h lines REGEX "#define BACKPLANE_SDK_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers "." version)
  if(NOT version VERSION_EQUAL PROJECT_VERSION)
    message(FATAL_ERROR "plugin-sdk/include/backplane/descriptor.h says version ${version}, project() says ${PROJECT_VERSION}")
  endif()
endfunction()

function(_backplane_write_contract)
  set(folder ${CMAKE_SOURCE_DIR}/plugin-sdk/include)
  backplane_contract_headers(headers ${folder})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  backplane_contract_hash(hash ${folder})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/include/backplane/contract.h CONTENT
"/* A hash of what the SDK's headers declare; part of every plugin's stamp.  Made when the SDK is built. */
#ifndef BACKPLANE_CONTRACT_H
#define BACKPLANE_CONTRACT_H
#define BACKPLANE_SDK_CONTRACT 0x${hash}ULL
#endif
")
endfunction()

function(backplane_install_rules)
  _backplane_check_sdk_version()
  _backplane_write_contract()
  set(package lib/cmake/BackplanePluginSdk)
  if(TARGET backplane)
    install(TARGETS backplane RUNTIME DESTINATION bin)
    set_target_properties(backplane PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  endif()
  # What every user of the SDK must define as the host does; in the tree these come with backplane_options.
  foreach(definition IN ITEMS BOOST_JSON_DYN_LINK BOOST_ALL_NO_LIB)
    target_compile_definitions(backplane_sdk INTERFACE $<INSTALL_INTERFACE:${definition}>)
  endforeach()
  install(TARGETS backplane_sdk backplane_workload EXPORT BackplanePluginSdkTargets LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/plugin-sdk/include/backplane ${CMAKE_SOURCE_DIR}/plugin-sdk/workload/include/backplane
    ${CMAKE_BINARY_DIR}/include/backplane DESTINATION include)
  install(EXPORT BackplanePluginSdkTargets NAMESPACE backplane:: DESTINATION ${package})

  set(BACKPLANE_BOOST_VERSION ${Boost_VERSION})
  configure_package_config_file(${_BACKPLANE_INSTALL_DIR}/BackplanePluginSdkConfig.cmake.in
    ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/BackplanePluginSdkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfig.cmake ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfigVersion.cmake
    ${_BACKPLANE_INSTALL_DIR}/BackplanePlugin.cmake ${_BACKPLANE_INSTALL_DIR}/plugin.map
    ${_BACKPLANE_INSTALL_DIR}/BackplaneEmbed.cmake ${_BACKPLANE_INSTALL_DIR}/embed.cpp.in ${_BACKPLANE_INSTALL_DIR}/embed.hpp.in
    DESTINATION ${package})
endfunction()

# When all targets are known.
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL backplane_install_rules)

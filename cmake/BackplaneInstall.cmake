# The install tree: bin/backplane, lib/libbackplane-sdk.so, lib/libbackplane-workload.a, lib/backplane/plugins, include/backplane, lib/cmake/BackplanePluginSdk.
# (backplane_add_plugin() installs the built-in plugins.)
include(CMakePackageConfigHelpers)
include(CheckCXXSourceCompiles)

set(_BACKPLANE_INSTALL_DIR ${CMAKE_CURRENT_LIST_DIR})

# The version is in the C header, from which plugins take their stamp, and in project().
function(_backplane_check_sdk_version)
  file(STRINGS ${CMAKE_SOURCE_DIR}/plugin-sdk/include/backplane/abi/descriptor.h lines REGEX "#define BACKPLANE_SDK_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers "." version)
  if(NOT version VERSION_EQUAL PROJECT_VERSION)
    message(FATAL_ERROR "plugin-sdk/include/backplane/abi/descriptor.h says version ${version}, project() says ${PROJECT_VERSION}")
  endif()
endfunction()

# _backplane_library_mode(OUT CONDITION): 1 if the condition of the preprocessor holds with the build's flags, else 0.
function(_backplane_library_mode out condition)
  check_cxx_source_compiles("#include <string>\n#if !(${condition})\n#error\n#endif\nint main() { return 0; }" BACKPLANE_LIBRARY_${out})
  set(${out} 0 PARENT_SCOPE)
  if(BACKPLANE_LIBRARY_${out})
    set(${out} 1 PARENT_SCOPE)
  endif()
endfunction()

function(_backplane_write_contract)
  set(folder ${CMAKE_SOURCE_DIR}/plugin-sdk/include)
  set(contracts "")
  foreach(one IN LISTS BACKPLANE_CONTRACT_FOLDERS)
    backplane_contract_headers(headers ${folder} ${one})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
    backplane_contract_fingerprint(print ${folder} ${one})
    list(APPEND contracts "0x${print}u")
  endforeach()
  list(JOIN contracts ", " contracts)
  backplane_check_point_headers(${folder})
  set(points "")
  foreach(one IN LISTS BACKPLANE_CONTRACT_POINTS)
    backplane_point_fingerprint(print ${folder} ${one})
    list(APPEND points "{\"${one}.hpp\", 0x${print}u}")
  endforeach()
  list(JOIN points ", " points)
  _backplane_library_mode(cxx11_abi "defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI")
  _backplane_library_mode(debug "defined(_GLIBCXX_DEBUG)")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/include/backplane/abi/contract.h CONTENT
"/* Hashes of what the SDK's headers declare, by folder; part of every plugin's stamp.  Made when the SDK is built. */
#ifndef BACKPLANE_CONTRACT_H
#define BACKPLANE_CONTRACT_H
#define BACKPLANE_SDK_CONTRACTS {${contracts}}
/* The same for each header of backplane/points; 0: the header has been removed. */
#define BACKPLANE_SDK_POINTS {${points}}
/* Modes of the C++ library that the SDK was built with. */
#define BACKPLANE_SDK_CXX11_ABI ${cxx11_abi}
#define BACKPLANE_SDK_GLIBCXX_DEBUG ${debug}
#endif
")
endfunction()

# Which folders of the contract the headers of the static libraries use, for plugins that are built with the installed SDK.
function(_backplane_write_library_contracts)
  set(folder ${CMAKE_SOURCE_DIR}/plugin-sdk)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/kit/include/backplane/*.hpp ${folder}/kit/include/backplane/kit/*.hpp
    ${folder}/workload/include/backplane/workload/*.hpp)
  set(output ${CMAKE_BINARY_DIR}/library_contracts.cmake)
  set(job ${CMAKE_BINARY_DIR}/library_contracts_job.cmake)
  file(CONFIGURE OUTPUT ${job} @ONLY CONTENT "set(SOURCES \"${headers}\")
set(ROOTS \"${folder}/include;${folder}/kit/include;${folder}/workload/include\")\nset(OUTPUT \"${output}\")\nset(DEPFILE \"${output}.d\")\n")
  add_custom_command(OUTPUT ${output} DEPFILE ${output}.d DEPENDS ${job} ${headers} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DLIBRARY=${job} -P ${_BACKPLANE_INSTALL_DIR}/BackplaneContract.cmake COMMENT "Reading the includes of the SDK's libraries")
  add_custom_target(backplane_library_contracts DEPENDS ${output})
  add_dependencies(backplane_sdk backplane_library_contracts)
endfunction()

function(backplane_install_rules)
  _backplane_check_sdk_version()
  _backplane_write_contract()
  _backplane_write_library_contracts()
  set(package lib/cmake/BackplanePluginSdk)
  if(TARGET backplane)
    install(TARGETS backplane RUNTIME DESTINATION bin)
    set_target_properties(backplane PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  endif()
  # Definitions that every user of the SDK must share with the host; in the tree they come with backplane_options.
  foreach(definition IN ITEMS BOOST_JSON_DYN_LINK BOOST_ALL_NO_LIB)
    target_compile_definitions(backplane_sdk INTERFACE $<INSTALL_INTERFACE:${definition}>)
  endforeach()
  install(TARGETS backplane_sdk backplane_kit backplane_workload backplane_check_documents EXPORT BackplanePluginSdkTargets LIBRARY DESTINATION lib
    ARCHIVE DESTINATION lib RUNTIME DESTINATION lib/backplane)
  # The test host, found by both tiers' packages (BackplaneTesting.cmake).
  if(TARGET backplane_testing)
    install(TARGETS backplane_testing LIBRARY DESTINATION lib)
  endif()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/plugin-sdk/include/backplane ${CMAKE_SOURCE_DIR}/plugin-sdk/testing/include/backplane
    ${CMAKE_SOURCE_DIR}/plugin-sdk/kit/include/backplane
    ${CMAKE_SOURCE_DIR}/plugin-sdk/workload/include/backplane
    ${CMAKE_BINARY_DIR}/include/backplane DESTINATION include)
  # The guide, with the pages and the examples to which it refers.
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/backplane-plugin-sdk PATTERN build EXCLUDE PATTERN target EXCLUDE)
  install(EXPORT BackplanePluginSdkTargets NAMESPACE backplane:: DESTINATION ${package})

  set(BACKPLANE_BOOST_VERSION ${Boost_VERSION})
  configure_package_config_file(${_BACKPLANE_INSTALL_DIR}/BackplanePluginSdkConfig.cmake.in
    ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/BackplanePluginSdkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfig.cmake ${CMAKE_BINARY_DIR}/BackplanePluginSdkConfigVersion.cmake
    ${_BACKPLANE_INSTALL_DIR}/BackplanePlugin.cmake ${_BACKPLANE_INSTALL_DIR}/BackplaneTesting.cmake ${_BACKPLANE_INSTALL_DIR}/BackplaneContract.cmake ${_BACKPLANE_INSTALL_DIR}/plugin.map
    ${_BACKPLANE_INSTALL_DIR}/group_plugin.cpp.in ${CMAKE_BINARY_DIR}/library_contracts.cmake
    ${_BACKPLANE_INSTALL_DIR}/BackplaneEmbed.cmake ${_BACKPLANE_INSTALL_DIR}/embed.cpp.in ${_BACKPLANE_INSTALL_DIR}/embed.hpp.in
    DESTINATION ${package})
  # The stable tier: found without Boost, and with its examples.
  install(FILES ${_BACKPLANE_INSTALL_DIR}/BackplaneStableSdkConfig.cmake ${_BACKPLANE_INSTALL_DIR}/BackplaneStable.cmake ${_BACKPLANE_INSTALL_DIR}/BackplaneTesting.cmake
    ${_BACKPLANE_INSTALL_DIR}/stable.map DESTINATION lib/cmake/BackplaneStableSdk)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/examples/stable-c ${CMAKE_SOURCE_DIR}/docs/examples/stable-cpp
    ${CMAKE_SOURCE_DIR}/docs/examples/stable-rust ${CMAKE_SOURCE_DIR}/docs/examples/stable-store DESTINATION share/backplane/examples PATTERN target EXCLUDE)
endfunction()

# Deferred until all targets are known.
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL backplane_install_rules)

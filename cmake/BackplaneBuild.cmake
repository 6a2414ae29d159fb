# Build rules shared by every folder: flags, precompiled headers, add_layer(), backplane_add_test().
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Symbols are exported only by annotation (backplane/core/visibility.hpp), which the SDK's headers use.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/archive)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers need these sloppiness options of ccache; the compiler's dependency output saves ccache a preprocessor run on a miss.
  # A checkout in another folder shares the cached objects: paths are hashed relative to the source folder.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json filesystem)
find_package(OpenSSL 3 REQUIRED)

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(backplane_options INTERFACE)
target_compile_options(backplane_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of overflows in std::string that cannot happen (GCC PR 105329, 105651, 105580): those three are off.
  target_compile_options(backplane_options INTERFACE -fno-gnu-unique -fpch-preprocess -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
  # The compiler's garbage collector walks the whole precompiled header each time: with a heap of 500 MB most sources end before it starts.
  target_compile_options(backplane_options INTERFACE "SHELL:--param ggc-min-expand=100" "SHELL:--param ggc-min-heapsize=500000")
endif()
target_compile_definitions(backplane_options INTERFACE BOOST_JSON_DYN_LINK BOOST_ALL_NO_LIB)
if(BACKPLANE_SANITIZE)
  target_compile_options(backplane_options INTERFACE -fsanitize=${BACKPLANE_SANITIZE} -fno-omit-frame-pointer -g1 -O1 -foptimize-sibling-calls)
  target_link_options(backplane_options INTERFACE -fsanitize=${BACKPLANE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND BACKPLANE_SANITIZE MATCHES "undefined")
    # Clang 14 cannot place what -fsanitize=function puts before a coroutine ("Cannot represent a difference across sections").
    target_compile_options(backplane_options INTERFACE -fno-sanitize=function)
  endif()
endif()

# libFuzzer programs in tests/fuzz (clang): all code is compiled with coverage for them.
option(BACKPLANE_FUZZ "Build libFuzzer programs" OFF)
if(BACKPLANE_FUZZ)
  target_compile_options(backplane_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(backplane_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(BACKPLANE_SHARED_HEADERS <boost/json.hpp> <algorithm> <atomic> <chrono> <coroutine> <functional> <map> <memory> <mutex> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <vector>)

# backplane_pch(TARGET): the precompiled header that every folder shares; it is compiled once, by the first target that asks.
function(backplane_pch target)
  if(NOT TARGET backplane_pch_holder)
    file(WRITE ${CMAKE_BINARY_DIR}/pch_holder.cpp "// Holds the precompiled header that all folders share.\n")
    add_library(backplane_pch_holder OBJECT ${CMAKE_BINARY_DIR}/pch_holder.cpp)
    target_link_libraries(backplane_pch_holder PRIVATE Boost::json Threads::Threads backplane_options)
    target_precompile_headers(backplane_pch_holder PRIVATE ${BACKPLANE_SHARED_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM backplane_pch_holder)
endfunction()

# The run time of tests' code does not matter: with -O1 they take two thirds of the time to build.  Coroutines that resume each
# other need their tail calls.
set(BACKPLANE_TEST_OPTIONS -fPIC)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT BACKPLANE_SANITIZE)
  list(APPEND BACKPLANE_TEST_OPTIONS -O1 -foptimize-sibling-calls)
endif()

# backplane_test_pch(TARGET): the same for tests, with GoogleTest in it.  As the libraries are compiled (-fPIC, not -fPIE).
function(backplane_test_pch target)
  target_compile_options(${target} PRIVATE ${BACKPLANE_TEST_OPTIONS})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(NOT TARGET backplane_test_pch_holder)
    file(WRITE ${CMAKE_BINARY_DIR}/test_pch_holder.cpp "// Holds the precompiled header that all tests share.\n")
    add_library(backplane_test_pch_holder OBJECT ${CMAKE_BINARY_DIR}/test_pch_holder.cpp)
    target_link_libraries(backplane_test_pch_holder PRIVATE Boost::json Threads::Threads GTest::gtest backplane_options)
    target_compile_options(backplane_test_pch_holder PRIVATE ${BACKPLANE_TEST_OPTIONS})
    set_target_properties(backplane_test_pch_holder PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(backplane_test_pch_holder PRIVATE ${BACKPLANE_SHARED_HEADERS} <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM backplane_test_pch_holder)
endfunction()

# add_layer(NAME SOURCES … TESTS … DEPS …): one folder of the host, one static library backplane::NAME, one test binary NAME_test.
# Headers are included as "NAME/file.hpp".
function(add_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPS;TEST_DEPS" ${ARGN})
  backplane_unity(sources backplane_${name} ${ARG_SOURCES})
  add_library(backplane_${name} STATIC ${sources})
  add_library(backplane::${name} ALIAS backplane_${name})
  target_include_directories(backplane_${name} PUBLIC ${CMAKE_SOURCE_DIR}/host)
  target_link_libraries(backplane_${name} PUBLIC backplane::sdk backplane::engine backplane::kit ${ARG_DEPS} PRIVATE backplane_options)
  target_link_libraries(backplane_${name} PUBLIC $<BUILD_INTERFACE:backplane_options>)
  backplane_pch(backplane_${name})
  if(BACKPLANE_BUILD_TESTS AND ARG_TESTS)
    backplane_add_test(${name}_test SOURCES ${ARG_TESTS} DEPS backplane::${name} ${ARG_TEST_DEPS})
  endif()
endfunction()

# backplane_add_test(NAME SOURCES … DEPS …): a GoogleTest binary whose tests ctest lists one by one.
function(backplane_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} backplane_options GTest::gtest_main GTest::gmock)
  backplane_test_pch(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

function(backplane_add_folders)
  foreach(folder IN LISTS ARGN)
    if(BACKPLANE_FOLDERS AND NOT folder IN_LIST BACKPLANE_FOLDERS)
      continue()
    endif()
    if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

include(BackplaneBuildInfo)
include(BackplaneUnity)
include(BackplaneEmbed)
include(BackplanePlugin)
include(BackplaneInstall)

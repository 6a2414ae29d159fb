# backplane_add_stable_plugin(NAME MANIFEST plugin.json SOURCES a.c … [DOCUMENTS x.json …]): a plugin of the stable tier, NAME.so, in C or C++.
#
# The sources name manifest and documents (BP_MANIFEST, BP_EMBED), which are looked up in the current folder. The plugin needs the headers
# backplane/stable alone: neither Boost, nor the compiler of the host.
set(_BACKPLANE_STABLE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(backplane_add_stable_plugin name)
  cmake_parse_arguments(ARG "" "MANIFEST" "SOURCES;DOCUMENTS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_MANIFEST OR NOT ARG_SOURCES)
    message(FATAL_ERROR "backplane_add_stable_plugin(NAME MANIFEST file SOURCES file… [DOCUMENTS file…]); got: ${ARGV}")
  endif()
  # The assembler reads these, so the compiler's own dependency scan does not see them.
  set(embedded "")
  foreach(file IN LISTS ARG_MANIFEST ARG_DOCUMENTS)
    get_filename_component(path "${file}" ABSOLUTE)
    list(APPEND embedded "${path}")
  endforeach()
  set_source_files_properties(${ARG_SOURCES} PROPERTIES OBJECT_DEPENDS "${embedded}")
  add_library(${name} MODULE ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${BACKPLANE_STABLE_INCLUDE_DIR})
  target_compile_options(${name} PRIVATE -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,-z,now -Wl,--version-script=${_BACKPLANE_STABLE_DIR}/stable.map)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" LINK_DEPENDS ${_BACKPLANE_STABLE_DIR}/stable.map C_STANDARD 11 CXX_STANDARD 20)
endfunction()

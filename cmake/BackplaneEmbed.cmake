# backplane_embed(TARGET FILE…): embeds files in TARGET as read-only bytes.
#
# For schema/core_v1.json the sources of TARGET write
#
#   #include "core_v1_json.hpp"        // std::string_view backplane::core_v1_json() noexcept;
#
# and can use the file's bytes as long as the binary is loaded.  The bytes are mapped from the binary when they are read, not before.

set(_BACKPLANE_EMBED_DIR ${CMAKE_CURRENT_LIST_DIR})

function(backplane_embed target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target})
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "backplane_embed(${target}): there is no ${path}")
    endif()
    get_filename_component(base "${path}" NAME)
    string(MAKE_C_IDENTIFIER "${base}" name)
    set(source ${folder}/${name}.cpp)
    # The source contains a hash of the file, because a compiler cache compares the source only, and would return the object of older bytes.
    file(SHA256 "${path}" digest)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    configure_file(${_BACKPLANE_EMBED_DIR}/embed.hpp.in ${folder}/${name}.hpp @ONLY)
    configure_file(${_BACKPLANE_EMBED_DIR}/embed.cpp.in ${source} @ONLY)
    # The assembler reads the file, so the compiler's own dependency scan does not see it.
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${path}" SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${target} PRIVATE ${source})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

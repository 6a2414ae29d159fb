# backplane_add_plugin(): builds a plugin, in this tree and out of it (find_package(BackplanePluginSdk)).
#
#   backplane_add_plugin(NAME MANIFEST plugin.json SOURCES a.cpp … [SCHEMAS x.json …] [LIBRARIES t …])
#   backplane_add_plugin(NAME MANIFEST plugin.json GROUP group.json SCHEMAS x.json …)
#
# makes   NAME           NAME.so: hidden symbols, nothing undefined, only the descriptor and the entry point exported
#         NAME_objects   the same objects for a test to link
#
# The second form needs no C++: the plugin installs the API group that the document GROUP describes (backplane/kit/group_document.hpp), with
# one document of types for each of its versions, in their order.
#
# The manifest becomes the descriptor, an ELF note of the .so:
#   name, version                 required; the version is a semantic version
#   license, vendor, description  text
#   provides                      names of capabilities that other plugins may require, in addition to the plugin's name
#   requires                      [{"name", "version": "a range", "optional": true|false}]
#   in_front_of, behind           names or capabilities that this plugin precedes or follows in the delegation chain; "*" means all plugins
#   conflicts                     names or capabilities that must not be loaded together with it
# SCHEMAS are checked (docs/schema-words.md) and embedded in the .so as read-only bytes (see BackplaneEmbed.cmake).

set(_BACKPLANE_PLUGIN_DIR ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/BackplaneContract.cmake)
set(_BACKPLANE_MANIFEST_KEYS behind conflicts description in_front_of license name provides requires vendor version)

# _backplane_canonical_json(OUT JSON): the value without white space, members sorted by name.
function(_backplane_canonical_json out json)
  string(JSON type ERROR_VARIABLE error TYPE "${json}")
  if(type STREQUAL "OBJECT")
    string(JSON count LENGTH "${json}")
    set(text "{")
    set(comma "")
    math(EXPR last "${count} - 1")
    if(count GREATER 0)
      foreach(i RANGE ${last})
        string(JSON key MEMBER "${json}" ${i})
        _backplane_json_member(member "${json}" "${key}")
        string(APPEND text "${comma}\"${key}\":${member}")
        set(comma ",")
      endforeach()
    endif()
    set(text "${text}}")
  else()
    string(JSON count LENGTH "${json}")
    set(text "[")
    set(comma "")
    math(EXPR last "${count} - 1")
    if(count GREATER 0)
      foreach(i RANGE ${last})
        _backplane_json_member(member "${json}" ${i})
        string(APPEND text "${comma}${member}")
        set(comma ",")
      endforeach()
    endif()
    string(APPEND text "]")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(_backplane_json_member out json key)
  string(JSON type TYPE "${json}" "${key}")
  string(JSON value GET "${json}" "${key}")
  if(type STREQUAL "STRING")
    string(REPLACE "\\" "\\\\" value "${value}")
    string(REPLACE "\"" "\\\"" value "${value}")
    set(value "\"${value}\"")
  elseif(type STREQUAL "BOOLEAN")
    if(value)
      set(value true)
    else()
      set(value false)
    endif()
  elseif(type STREQUAL "OBJECT" OR type STREQUAL "ARRAY")
    _backplane_canonical_json(value "${value}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Refuses a member whose name occurs earlier in its object: string(JSON) takes the last one.  `text` is JSON.
function(_backplane_refuse_duplicate_members file text)
  set(line 1)
  set(opened 0)
  set(objects 0)  # a stack of the open objects and lists, by number
  set(members "")
  while(NOT text STREQUAL "")
    string(REGEX MATCH "^(\"([^\"\\\\]|\\\\.)*\"|[^\"]|\")" token "${text}")
    string(LENGTH "${token}" size)
    string(SUBSTRING "${text}" ${size} -1 text)
    if(token STREQUAL "\n")
      math(EXPR line "${line} + 1")
    elseif(token MATCHES "^[{]$" OR token STREQUAL "[")
      math(EXPR opened "${opened} + 1")
      list(PREPEND objects ${opened})
    elseif(token MATCHES "^[}]$" OR token STREQUAL "]")
      list(POP_FRONT objects)
    elseif(token STREQUAL ":")
      list(GET objects 0 object)
      string(MD5 member "${object} ${name}")
      if(member IN_LIST members)
        message(FATAL_ERROR "${file}:${line}: duplicate member ${name}")
      endif()
      list(APPEND members ${member})
    elseif(token MATCHES "^\"")
      set(name "${token}")
    endif()
  endwhile()
endfunction()

# Checks the manifest at build time, and returns its canonical text.
function(_backplane_read_manifest out file)
  file(READ "${file}" json)
  string(JSON count ERROR_VARIABLE error LENGTH "${json}")
  if(error)
    message(FATAL_ERROR "${file}: ${error}")
  endif()
  _backplane_refuse_duplicate_members("${file}" "${json}")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON key MEMBER "${json}" ${i})
    if(NOT key IN_LIST _BACKPLANE_MANIFEST_KEYS)
      list(JOIN _BACKPLANE_MANIFEST_KEYS ", " known)
      message(FATAL_ERROR "${file}: unknown member \"${key}\"; known are: ${known}")
    endif()
  endforeach()
  string(JSON name ERROR_VARIABLE error GET "${json}" name)
  if(NOT name MATCHES "^[a-z0-9]([-a-z0-9./]*[a-z0-9])?$")
    message(FATAL_ERROR "${file}: \"name\" must be lower-case letters, digits, '-', '.' and '/', for example acme.io/widgets")
  endif()
  string(JSON version ERROR_VARIABLE error GET "${json}" version)
  if(NOT version MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$")
    message(FATAL_ERROR "${file}: \"version\" must be a semantic version, for example 1.4.2")
  endif()
  _backplane_canonical_json(text "${json}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The source that puts the descriptor into the note section; compiled with the plugin's flags, so that the stamp describes them.
function(_backplane_write_descriptor name file text documents)
  set(source "// The descriptor of this plugin.  Made from its manifest by backplane_add_plugin(); changes are overwritten.
#include <backplane/abi/abi.hpp>

#include \"${name}_uses.h\"

namespace {
constexpr auto kNote = ::backplane::abi::make_note(R\"manifest(${text})manifest\", ${documents}, BACKPLANE_PLUGIN_USES, BACKPLANE_PLUGIN_POINTS);
}
extern \"C\" {
extern __attribute__((visibility(\"default\"))) const decltype(kNote) backplane_plugin_note;
#ifdef __clang__
__attribute__((no_sanitize(\"address\")))  // a red zone would be a second, broken note
#endif
__attribute__((section(BP_NOTE_SECTION), used, aligned(4))) const decltype(kNote) backplane_plugin_note = kNote;
}
")
  set(old "")
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(NOT "${old}" STREQUAL "${source}")
    file(WRITE "${file}" "${source}")
  endif()
endfunction()

# The folders of the SDK that the sources use, found when the plugin is built: NAME_uses.h, which the descriptor includes.
function(_backplane_find_uses name)
  set(sources "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path "${source}" ABSOLUTE)
    list(APPEND sources "${path}")
  endforeach()
  get_target_property(roots backplane::sdk INTERFACE_INCLUDE_DIRECTORIES)
  set(libraries "")
  if(TARGET backplane_options)
    set(roots "")
    foreach(folder IN ITEMS include kit/include workload/include engine/include)
      list(APPEND roots ${CMAKE_SOURCE_DIR}/plugin-sdk/${folder})
    endforeach()
  else()
    set(libraries ${_BACKPLANE_PLUGIN_DIR}/library_contracts.cmake)
  endif()
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}_uses.h)
  set(job ${CMAKE_CURRENT_BINARY_DIR}/${name}_uses.cmake)
  file(CONFIGURE OUTPUT ${job} @ONLY CONTENT "set(SOURCES \"${sources}\")\nset(ROOTS \"${CMAKE_CURRENT_SOURCE_DIR};${roots}\")
set(OUTPUT \"${header}\")\nset(DEPFILE \"${header}.d\")\nset(LIBRARIES \"${libraries}\")\n")
  add_custom_command(OUTPUT ${header} DEPFILE ${header}.d DEPENDS ${job} ${sources} ${libraries} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPLUGIN=${job} -P ${_BACKPLANE_PLUGIN_DIR}/BackplaneContract.cmake COMMENT "Reading the includes of ${name}")
endfunction()

# The generated source of a plugin without C++: installs the group.
function(_backplane_write_group_plugin file registrant document)
  set(includes "")
  set(schemas "")
  foreach(path IN LISTS document ARGN)
    get_filename_component(base "${path}" NAME)
    string(MAKE_C_IDENTIFIER "${base}" name)
    string(APPEND includes "#include \"${name}.hpp\"\n")
    if(path STREQUAL document)
      set(group ${name})
    else()
      list(APPEND schemas "backplane::${name}()")
    endif()
  endforeach()
  list(JOIN schemas ", " schemas)
  configure_file(${_BACKPLANE_PLUGIN_DIR}/group_plugin.cpp.in ${file} @ONLY)
endfunction()

# Plugins under plugins/ are built into the folder from which the built host loads; the target backplane_plugins builds all of them.
function(_backplane_add_built_in name)
  cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${CMAKE_CURRENT_SOURCE_DIR}" in_tree)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
  if(NOT in_tree OR NOT folder MATCHES "^plugins/")
    return()
  endif()
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/backplane/plugins)
  if(NOT TARGET backplane_plugins)
    add_custom_target(backplane_plugins)
  endif()
  add_dependencies(backplane_plugins ${name})
  # The SDK library is mapped before any plugin; the path is for tools that read the file alone.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../..")
  install(TARGETS ${name} LIBRARY DESTINATION lib/backplane/plugins)
endfunction()

# Refuses documents with unknown keywords, columns with unknown paths, or invalid JSON: file:line: /pointer: message.
function(_backplane_check_documents name)
  if(NOT ARGN OR NOT TARGET backplane::check_documents)
    return()
  endif()
  set(files "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE)
    list(APPEND files "${path}")
  endforeach()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}_documents.checked)
  add_custom_command(OUTPUT ${stamp} COMMAND backplane::check_documents ${files} COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${files} backplane::check_documents COMMENT "Checking the documents of ${name}" VERBATIM)
  add_custom_target(${name}_documents DEPENDS ${stamp})
  add_dependencies(${name} ${name}_documents)
endfunction()

function(backplane_add_plugin name)
  cmake_parse_arguments(ARG "" "MANIFEST;GROUP" "SOURCES;SCHEMAS;LIBRARIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_MANIFEST OR (ARG_GROUP AND (ARG_SOURCES OR NOT ARG_SCHEMAS)) OR NOT (ARG_GROUP OR ARG_SOURCES))
    message(FATAL_ERROR "backplane_add_plugin(NAME MANIFEST file SOURCES file… [SCHEMAS file…] [LIBRARIES target…]) or "
                        "backplane_add_plugin(NAME MANIFEST file GROUP file SCHEMAS file…); got: ${ARGV}")
  endif()
  get_filename_component(manifest "${ARG_MANIFEST}" ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  _backplane_read_manifest(text "${manifest}")
  set(descriptor ${CMAKE_CURRENT_BINARY_DIR}/${name}_descriptor.cpp)
  set(documents 0)
  if(TARGET backplane::check_documents OR NOT ARG_SCHEMAS)
    set(documents BP_DOCUMENTS_CHECKED)
  endif()
  _backplane_write_descriptor(${name} ${descriptor} "${text}" ${documents})
  if(ARG_GROUP)
    set(ARG_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${name}_group.cpp)
    string(JSON registrant GET "${text}" name)
    _backplane_write_group_plugin(${ARG_SOURCES} "${registrant}" ${ARG_GROUP} ${ARG_SCHEMAS})
    list(PREPEND ARG_SCHEMAS ${ARG_GROUP})
  endif()
  _backplane_find_uses(${name} ${ARG_SOURCES})

  set(options -fvisibility=hidden -fvisibility-inlines-hidden)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND options -fno-gnu-unique)
  endif()

  set(sources ${ARG_SOURCES})
  if(COMMAND backplane_unity)
    backplane_unity(sources ${name}_objects ${ARG_SOURCES})
  endif()
  add_library(${name}_objects OBJECT ${sources})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_include_directories(${name}_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name}_objects PUBLIC backplane::kit backplane::sdk ${ARG_LIBRARIES})
  target_compile_options(${name}_objects PRIVATE ${options})
  if(ARG_SCHEMAS)
    backplane_embed(${name}_objects ${ARG_SCHEMAS})
  endif()

  add_library(${name} MODULE ${descriptor} ${CMAKE_CURRENT_BINARY_DIR}/${name}_uses.h $<TARGET_OBJECTS:${name}_objects>)
  _backplane_check_documents(${name} ${ARG_SCHEMAS})
  # The descriptor is compiled with the sources' flags, so that the stamp describes them.
  foreach(property IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS)
    set_property(TARGET ${name} APPEND PROPERTY ${property} $<TARGET_PROPERTY:${name}_objects,${property}>)
  endforeach()
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE backplane::kit backplane::sdk ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE ${options})
  # An undefined symbol is an error here and not when the host loads the plugin.  (Clang leaves its sanitizers' symbols open.)
  if(NOT (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND (BACKPLANE_SANITIZE OR CMAKE_CXX_FLAGS MATCHES "-fsanitize=")))
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  target_link_options(${name} PRIVATE -Wl,-z,now -Wl,--version-script=${_BACKPLANE_PLUGIN_DIR}/plugin.map)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" CXX_EXTENSIONS OFF LINK_DEPENDS ${_BACKPLANE_PLUGIN_DIR}/plugin.map)
  if(TARGET backplane_options)
    # In the tree: the flags of the tree, and its precompiled header.
    target_link_libraries(${name}_objects PRIVATE backplane_options)
    backplane_pch(${name}_objects)
    target_link_libraries(${name} PRIVATE backplane_options)
    backplane_pch(${name})
    _backplane_add_built_in(${name})
  else()
    target_compile_features(${name}_objects PRIVATE cxx_std_20)
    target_compile_features(${name} PRIVATE cxx_std_20)
  endif()
endfunction()

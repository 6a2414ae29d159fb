# The contract between host and plugins: a hash of what the SDK's public headers declare, comments and white space aside.  It is part of
# every plugin's stamp, because a virtual function that is added or moved changes no size.  Libraries beside the SDK (backplane::workload)
# have no part in it: a plugin carries its own copy of them.
#
#   backplane_contract_hash(OUT FOLDER)     sixteen hex digits for the headers in FOLDER/backplane, FOLDER/backplane/kit …
#   cmake -DINCLUDE=FOLDER -P …             prints them

function(backplane_contract_headers out folder)
  if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB_RECURSE headers ${folder}/backplane/*.hpp)
  else()
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/backplane/*.hpp)
  endif()
  list(FILTER headers EXCLUDE REGEX "/abi\\.hpp$")  # the stamp itself
  set(${out} ${headers} PARENT_SCOPE)
endfunction()

function(backplane_contract_hash out folder)
  backplane_contract_headers(headers ${folder})
  set(text "")
  foreach(header IN LISTS headers)
    file(READ ${header} one)
    string(REGEX REPLACE "//[^\n]*" "" one "${one}")
    string(REGEX REPLACE "/[*]([^*]|[*][^/])*[*]/" "" one "${one}")
    string(REGEX REPLACE "[ \t\r\n]+" " " one "${one}")
    string(APPEND text "${one}")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  backplane_contract_hash(hash ${INCLUDE})
  message(STATUS "${hash}")
endif()

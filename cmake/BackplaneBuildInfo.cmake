# What a binary reports about its build: the commit, whether the tree has changes, the date.  Taken when CMake configures.
set(BACKPLANE_COMMIT "" CACHE STRING "Commit that the binary reports; empty: the one of the git work tree, if there is one")

# backplane_build_info(INPUT OUTPUT): writes OUTPUT from the template INPUT.
function(backplane_build_info input output)
  set(BUILD_COMMIT "${BACKPLANE_COMMIT}")
  set(BUILD_TREE_STATE "")
  find_package(Git QUIET)
  if(NOT BUILD_COMMIT AND Git_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      OUTPUT_VARIABLE BUILD_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
    if(failed EQUAL 0 AND changes STREQUAL "")
      set(BUILD_TREE_STATE "clean")
    elseif(failed EQUAL 0)
      set(BUILD_TREE_STATE "dirty")
    endif()
  endif()
  if(NOT BUILD_COMMIT)
    set(BUILD_COMMIT "unknown")
  endif()
  string(TIMESTAMP BUILD_DATE "%Y-%m-%dT%H:%M:%SZ" UTC)  # SOURCE_DATE_EPOCH, where it is set
  configure_file(${input} ${output} @ONLY)
endfunction()

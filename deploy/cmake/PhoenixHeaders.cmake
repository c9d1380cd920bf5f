# The target phx_headers: each header of a library compiles with nothing before it that it does not
# include itself.
#
# A header that includes another one, directly or through others, may stand behind it in one file:
# what is before it is there anyway. So of a chain, in which each header includes all before it, all
# are checked in the time that the last one takes: half as many compilations as there are headers.
#
# The standard headers that cost most are there already: reading them took longer than all else. That
# a header includes those it needs is a rule of style (tests/style/standard_rules.cc).

include_guard()

# All headers of ours that `header` includes, directly or through others.
function(phx_find_included header result)
  get_property(is_known GLOBAL PROPERTY PHX_INCLUDED_${header} SET)
  if(NOT is_known)
    set(all "")
    set_property(GLOBAL PROPERTY PHX_INCLUDED_${header} "")  # Two may include each other.
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
      if(EXISTS ${PROJECT_SOURCE_DIR}/${included})
        phx_find_included(${included} behind)
        list(APPEND all ${included} ${behind})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES all)
    set_property(GLOBAL PROPERTY PHX_INCLUDED_${header} "${all}")
  endif()
  get_property(all GLOBAL PROPERTY PHX_INCLUDED_${header})
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# To be called when all libraries are known. Each chain begins with the header that includes the
# most, and goes on with the next one that it includes, and so on.
function(phx_check_headers)
  get_property(headers GLOBAL PROPERTY PHX_HEADERS)
  set(remaining "")
  foreach(header IN LISTS headers)
    phx_find_included(${header} included)
    list(LENGTH included count)
    list(APPEND remaining "${count}|${header}")
  endforeach()
  list(SORT remaining COMPARE NATURAL ORDER DESCENDING)
  list(TRANSFORM remaining REPLACE "^[0-9]+\\|" "")
  set(sources "")
  while(remaining)
    list(GET remaining 0 last)
    set(chain "")
    set(content "")
    foreach(header IN LISTS remaining)
      if(NOT chain OR header IN_LIST included)
        list(APPEND chain ${header})
        string(PREPEND content "#include \"${header}\"\n")
        phx_find_included(${header} included)
      endif()
    endforeach()
    list(REMOVE_ITEM remaining ${chain})
    string(REPLACE "/" "-" name ${last})
    set(source ${PROJECT_BINARY_DIR}/generated/headers/${name}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "${content}" @ONLY)
    list(APPEND sources ${source})
  endwhile()
  add_library(phx_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  get_property(libraries GLOBAL PROPERTY PHX_LIBRARIES)
  target_link_libraries(phx_headers PRIVATE ${libraries})
  target_compile_options(phx_headers PRIVATE -O0 -g0)
  set_target_properties(phx_headers PROPERTIES UNITY_BUILD OFF)
  if(PHX_PRECOMPILE)
    target_precompile_headers(phx_headers PRIVATE ${PHX_STANDARD_HEADERS} <atomic> <condition_variable>
                              <filesystem> <fstream> <list> <mutex> <sstream> <thread> <tuple>)
  endif()
endfunction()

# Read by cpack before it begins: without these tools it would make a package that depends on nothing.
foreach(tool dpkg-shlibdeps file)
  find_program(found_${tool} ${tool} PATHS ENV PATH NO_DEFAULT_PATH)
  if(NOT found_${tool})
    message(FATAL_ERROR "To make a package, ${tool} is needed: apt-get install dpkg-dev file")
  endif()
endforeach()

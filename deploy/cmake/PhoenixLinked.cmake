# The third parties that the installed libraries are linked with. Used by our own build and, through
# phoenixConfig.cmake, by every project that says find_package(phoenix).

macro(phx_find_linked_parties)
  find_package(Protobuf QUIET)
  find_package(spdlog QUIET)
  find_package(OpenSSL QUIET)
  find_library(PHX_XXHASH_LIBRARY xxhash)
  if(PHX_XXHASH_LIBRARY AND NOT TARGET xxHash::xxhash)
    add_library(xxHash::xxhash UNKNOWN IMPORTED)
    set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_LOCATION ${PHX_XXHASH_LIBRARY})
  endif()
endmacro()

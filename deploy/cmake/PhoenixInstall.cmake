# What `cmake --install` copies, and what find_package(phoenix) finds.

include(CMakePackageConfigHelpers)

# Headers keep their full paths below include/phoenix, which is what our own includes expect.
get_property(installed GLOBAL PROPERTY PHX_INSTALLED)
foreach(target IN LISTS installed)
  install(TARGETS ${target} EXPORT phoenix
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/phoenix)
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/phoenix)
install(EXPORT phoenix NAMESPACE phoenix:: DESTINATION ${package_folder} FILE phoenixTargets.cmake)

configure_package_config_file(${PROJECT_SOURCE_DIR}/deploy/cmake/phoenixConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/phoenixConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/phoenixConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/phoenixConfig.cmake
              ${PROJECT_BINARY_DIR}/phoenixConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/deploy/cmake/PhoenixLinked.cmake
        DESTINATION ${package_folder})

# For those who build without CMake. From its own folder to the prefix, so that it may be installed
# anywhere; whatever is used by a library stands behind it.
if(PHX_BUILD_TCP)
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  list(REVERSE installed)
  list(TRANSFORM installed PREPEND -l OUTPUT_VARIABLE libraries)
  list(JOIN libraries " " libraries)
  configure_file(${PROJECT_SOURCE_DIR}/deploy/cmake/phoenix.pc.in ${PROJECT_BINARY_DIR}/phoenix.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/phoenix.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

  # With the path that phoenixd has after this installation. Whether it is to run is for the machine's owner to say.
  set(unit ${PROJECT_BINARY_DIR}/phoenixd.service)
  install(CODE "
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
set(program \"\${prefix}/${CMAKE_INSTALL_BINDIR}/phoenixd\")
string(REPLACE % %% program \"\${program}\")
file(READ \"${PROJECT_SOURCE_DIR}/deploy/phoenixd.service\" text)
string(REPLACE /usr/local/bin/phoenixd \"\${program}\" text \"\${text}\")
file(REMOVE \"${unit}\")  # It may be root's; the folder is not.
file(WRITE \"${unit}\" \"\${text}\")")
  install(FILES ${unit} DESTINATION lib/systemd/system)
endif()

# Last: our own folders may be used by others, see PhoenixSettings; and the list of what to remove, for those who want
# that: install_manifest.txt of the build folder is also written by cpack, which names files of /usr.
install(CODE "
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
set(root \"\$ENV{DESTDIR}\${prefix}\")
set(files share/doc/phoenix/installed.txt)
foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY \"\${prefix}\")
  list(APPEND files \"\${file}\")
endforeach()
string(REPLACE \";\" \"\\n\" files \"\${files}\")
file(WRITE \"\${root}/share/doc/phoenix/installed.txt\" \"\${files}\\n\")
file(CHMOD \"\${root}/share/doc/phoenix/installed.txt\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
foreach(folder ${CMAKE_INSTALL_INCLUDEDIR}/phoenix ${CMAKE_INSTALL_INCLUDEDIR}/phoenix-mpi
        ${CMAKE_INSTALL_INCLUDEDIR}/phoenix-mpi-fortran ${package_folder} ${CMAKE_INSTALL_LIBDIR}/phoenix-mpi
        libexec/phoenix share/doc/phoenix)
  if(EXISTS \"\${root}/\${folder}\")
    file(CHMOD_RECURSE \"\${root}/\${folder}\" DIRECTORY_PERMISSIONS ${PHX_FOLDER_PERMISSIONS})
  endif()
endforeach()")

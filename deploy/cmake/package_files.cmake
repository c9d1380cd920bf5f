# Run by cpack on what is to be packed: what differs from an installation by `cmake --install`.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
foreach(name mpicc mpicxx mpic++ mpifort mpif77 mpif90 mpirun mpiexec)
  file(RENAME ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin/${name} ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin/${name}.phoenix)
endforeach()
file(REMOVE ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/phoenix/installed.txt)  # dpkg knows
set(unit ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/lib/systemd/system/phoenixd.service)
file(READ ${unit} text)
string(REGEX REPLACE "ExecStart=\"[^\n\"]*\" " "ExecStart=\"/usr/bin/phoenixd\" " text "${text}")
file(WRITE ${unit} "${text}")

# What `cpack` makes of a build with programs: one Debian package with all that is installed.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME phoenix)
set(CPACK_PACKAGE_CONTACT "The maintainers of Phoenix <phoenix@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# What the programs are linked with is found out; building applications needs more.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openssh-client, g++, cmake, libprotobuf-dev, libspdlog-dev, libssl-dev, libxxhash-dev")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "A runtime for programs whose parts send each other messages, on machines that join and leave
 while the programs run. With the daemon phoenixd, the tool phoenix, the library of applications, examples and documents.")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_tools.cmake)
# As packages of MPI do in Debian: mpicc is a link that the machine's owner chooses.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_files.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/postinst ${PROJECT_SOURCE_DIR}/deploy/debian/postrm
    ${PROJECT_SOURCE_DIR}/deploy/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
